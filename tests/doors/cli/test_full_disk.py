"""Commands on a full disk; all of them are in `tests/hostile/full_disk_commands.py`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.config import Settings
from pagekeep.errors import StoreError
from pagekeep.library.exports.run import FORMATS, ExportOptions, Format, export
from pagekeep.store import open_store
from tests.hostile.full_disk_commands import ITEMS, clear_faults, fill, make_library, run, work_faults
from tests.hostile.store_full import small_disk


@pytest.fixture
def disk() -> Iterator[Path]:
    with small_disk() as small:
        if small is None:
            pytest.skip("no small file system can be mounted here")
        yield small


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_to_a_full_disk_leaves_the_older_file(format: Format, disk: Path, tmp_path: Path) -> None:
    make_library(tmp_path / "library.db")
    out = disk / "out"
    if format != "markdown":
        out.write_text("older")
    ballast = fill(disk)
    with closing(open_store(tmp_path / "library.db")) as library:
        with pytest.raises(StoreError, match="No space left"):
            asyncio.run(export(library, out, ExportOptions(format=format), Settings()))
        if format != "markdown":
            assert out.read_text() == "older"
            assert sorted(path.name for path in disk.iterdir()) == ["ballast", "out"]
        ballast.unlink()
        (out.unlink if out.is_file() else out.exists)()
        report = asyncio.run(export(library, out, ExportOptions(format=format), Settings()))
    assert report.items == ITEMS


def test_an_export_to_a_full_stdout_is_a_clear_error(disk: Path, tmp_path: Path) -> None:
    make_library(tmp_path / "library.db")
    fill(disk)
    command = ("export", "--library", str(tmp_path / "library.db"), "--format", "jsonl", "-")
    assert clear_faults("export", run(*command, out=disk / "stdout")) == []


def test_a_worker_waits_for_room_and_finishes_every_job(disk: Path) -> None:
    assert list(work_faults(disk, 10)) == []
