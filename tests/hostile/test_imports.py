"""Exports that were made to harm: D1 to D4."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.errors import PagekeepError
from pagekeep.library.imports.input import source
from pagekeep.library.imports.run import ImportPlan, ImportReport, import_stream
from pagekeep.rules import Rulebook
from pagekeep.store import Store, open_store
from tests.hostile import import_formats, import_uploads, zip_directories
from tests.hostile.import_kill import attack
from tests.hostile.store_places import attack_on
from tests.library.imports import samples
from tests.library.imports.conftest import everything


def bring(library: Store, data: bytes) -> ImportReport:
    return import_stream(io.BytesIO(data), "export", library, ImportPlan(Rulebook()))


@pytest.fixture
def library(tmp_path: Path):  # type: ignore[no-untyped-def]
    with closing(open_store(tmp_path / "library.db", "keeper")) as store:
        yield store


def test_d1_an_archive_writes_nothing_outside_whatever_its_names(
    library: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.html").write_text("<p>the secret</p>" * 50)
    before = sorted(path.name for path in tmp_path.iterdir())
    entry = {"slug": "../secret", "url": "https://example.com/a", "title": "A", "savedAt": "2020-01-01T00:00:00Z"}
    extra = {
        "../../evil.html": b"x",
        "/tmp/evil.html": b"x",
        "content/../secret.html": b"<p>also</p>",
        "metadata_60_to_80.json": json.dumps([entry]).encode(),
    }
    report = bring(library, samples.omnivore(extra=extra))
    assert report.added == samples.COUNT + 1
    item = everything(library)["https://example.com/a"]
    assert item.metadata.quality == "bookmark"
    assert "secret" not in item.content
    assert [name for name in sorted(path.name for path in tmp_path.iterdir()) if not name.startswith("library")] == [
        name for name in before if not name.startswith("library")
    ]


def _peak(library: Store, data: bytes) -> float:
    tracemalloc.start()
    try:
        bring(library, data)
    except PagekeepError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak / 1e6


@pytest.mark.parametrize("name", ["content/day-31.html", "highlights/day-1.md", "content/other.html"])
def test_d1_a_bomb_in_an_archive_is_not_held(library: Store, name: str) -> None:
    bomb = samples.omnivore(
        extra={name: b" " * 120_000_000} if name == "content/other.html" else {name: b"a " * 60_000_000}
    )
    assert _peak(library, bomb) < 90


def test_d1_a_bomb_of_spaces_in_a_list_is_not_held(library: Store) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("metadata_0_to_20.json", b"[" + b" " * 120_000_000)
    assert _peak(library, out.getvalue()) < 90


def test_d1_an_archive_that_lies_about_its_sizes_is_reported(library: Store) -> None:
    data = bytearray(samples.omnivore())
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 5)
    report = bring(library, bytes(data))
    assert report.added >= 20


def test_d2_what_comes_in_is_as_clean_as_by_any_other_way(library: Store) -> None:
    entries = [
        {"url": "javascript:alert(1)", "is_archived": 0},
        {"url": "file:///etc/passwd", "is_archived": 0},
        {"url": "http://user:pass@example.com/", "is_archived": 0},
        {
            "url": "https://example.com/a",
            "is_archived": "yes",
            "title": "<script>x</script>\x00\x1b[2J\ud800",
            "tags": ["#a\nb", "x" * 999, {"name": ["no"]}, 7],
            "created_at": "9999-99-99",
            "content": "<script>alert(1)</script><p onclick=x()>" + "Words of a page that stays. " * 60 + "</p>",
            "annotations": [{"quote": "\x00\ud800", "text": ["no"]}, 7],
            "preview_picture": "javascript:alert(1)",
            "language": "../../etc",
            "published_by": "nobody",
        },
        {"url": ["https://example.com/b"], "is_archived": 0},
        7,
    ]
    report = bring(library, json.dumps(entries).encode())
    assert (report.added, report.failed, report.skipped) == (1, 4, 1)
    item = everything(library)["https://example.com/a"]
    assert "alert(1)" not in item.content
    assert "\x00" not in item.title
    assert "\x1b" not in item.title
    assert list(item.metadata.tags) == ["a b", "x" * 200, "7"]
    assert not item.metadata.hero_image
    assert library.check() == []


@pytest.mark.parametrize("seed", range(3))
def test_any_damage_to_an_export_stays_within_our_errors(seed: int, tmp_path: Path) -> None:
    import random

    chance = random.Random(seed)
    for name, (_, data) in samples.ALL.items():
        harmed = bytearray(data)
        for _ in range(20):
            at = chance.randrange(len(harmed))
            harmed[at : at + chance.randrange(4)] = bytes(chance.randrange(256) for _ in range(chance.randrange(4)))
        with closing(open_store(tmp_path / f"{name}.db", "keeper")) as library:
            try:
                bring(library, bytes(harmed))
            except PagekeepError:
                continue
            assert library.check() == []


def test_d2_hostile_files_of_every_format_cost_the_hostile_rows_alone() -> None:
    formats, files, faults = import_formats.attack(1)
    assert (formats, faults) == (19, [])
    assert files == formats * 2


def test_h12_no_list_of_an_archive_is_read_beyond_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_FILES", 1_000)
    monkeypatch.setattr(source, "MAX_INDEX_BYTES", 200_000)
    count, faults = zip_directories.attack(1_200, 100)
    assert faults == []
    assert count > 300


def test_d4_an_import_that_is_killed_and_run_again_makes_no_duplicates() -> None:
    assert attack_on("sqlite", attack, 4) == []


def test_h1_hostile_uploads_are_not_read_by_the_server_itself() -> None:
    files = ["json huge entry", "zip bomb of spaces"]
    assert import_uploads.attack(files, 1) == []
