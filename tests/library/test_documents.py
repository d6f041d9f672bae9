"""A saved PDF over the years: versions, proofs, exports, the mirror and backups, all with its file."""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.doors.cli.main import cli
from pagekeep.library import watch
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.save import save
from pagekeep.model import Change
from pagekeep.store import Store
from pagekeep.workers import Room
from tests.capture.documents.samples import harbour
from tests.site.fixtures import Shore

PIER = [f"The {part} stones of the pier were laid in a dry summer, and the masons signed each." for part in "abcdefghi"]
FIRST, SECOND = harbour(*PIER), harbour(*PIER, "In the autumn a storm took the last of them.")

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command on a library, which must succeed, and returns its output."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("PAGEKEEP_ALLOW_HOSTS", "127.0.0.1")
    monkeypatch.setenv("PAGEKEEP_PER_HOST_DELAY", "0")

    def one(*arguments: str, library: str = "library.db") -> str:
        result = CliRunner().invoke(cli, [*arguments, "--library", str(tmp_path / library)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    return one


def test_a_pdf_has_versions_is_proved_and_leaves_and_comes_back_as_it_is(
    run: Run, shore: Shore, tmp_path: Path
) -> None:
    url = shore.url("harbour.pdf")
    shore.bodies["harbour.pdf"] = FIRST
    key = json.loads(run("save", url, "--json"))["items"][0]["id"]
    shore.bodies["harbour.pdf"] = SECOND
    run("save", url)
    assert "storm" in run("read", key)
    assert "storm" not in run("read", key, "--version", "1")
    assert "In the autumn a storm took the last of them." in run("diff", key)
    assert json.loads(run("verify", "--json"))["success"]
    outcome = json.loads(run("reparse", key, "--force", "--json"))
    assert outcome["unchanged"] == 1

    run("export", str(tmp_path / "book.epub"), "--format", "epub")
    with zipfile.ZipFile(tmp_path / "book.epub") as book:
        assert any(b"a storm took the last" in book.read(name) for name in book.namelist())
    for folder in ("files", "mirrored"):
        run("export" if folder == "files" else "mirror", str(tmp_path / folder))
        (file,) = (tmp_path / folder).rglob("*.md")
        assert "a storm took the last" in file.read_text()

    run("export", archive := str(tmp_path / "pages.warc.gz"), "--format", "warc")
    run("import", archive, library="again.db")
    assert run("export", "-", "--format", "jsonl", library="again.db") == run("export", "-", "--format", "jsonl")
    original = CliRunner().invoke(cli, ["read", key, "--original", "--library", str(tmp_path / "again.db")])
    assert original.stdout_bytes == SECOND
    assert json.loads(run("verify", archive, "--json"))["success"]

    run("backup", f"{tmp_path / 'backup'}/")
    run("library", "restore", str(tmp_path / "backup"), library="restored.db")
    assert "storm" not in run("read", key, "--version", "1", library="restored.db")


def test_a_watched_pdf_reports_its_change(
    shore: Shore, library: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "CONFIRM_SECONDS", 0.0)
    shore.bodies["harbour.pdf"] = FIRST

    async def go() -> Change | None:
        async with Retrieval(settings, room=room) as retrieval:
            item = (await save(SaveRequest(Request(shore.url("harbour.pdf"))), library, retrieval)).item
            watch.watch(library, item.id)
            shore.bodies["harbour.pdf"] = SECOND
            for _ in range(2):  # a change of the first visits is believed when it lasts
                schedule = library.schedules.get(watch.TASK, item.id)
                assert schedule is not None
                change = await watch.visit(library.items.get(item.id), schedule, library, retrieval)
            return change

    room = Room(1)
    change = asyncio.run(go())
    room.close()
    assert change is not None
    assert "storm" in change.excerpt
