"""`pagekeep import`, as people run it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli
from tests.library.imports import samples


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAGEKEEP_LIBRARY", str(tmp_path / "library.db"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name, (_, data) in samples.ALL.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def reported(*arguments: str, code: int = 0) -> dict[str, Any]:
    done = run("import", *arguments, "--json")
    assert done.exit_code == code, done.output
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def count() -> int:
    return int(json.loads(run("stats", "--json").stdout)["stats"]["items"])


def test_an_export_is_imported_and_queued_unless_requested_otherwise() -> None:
    done = run("import", "pocket.csv")
    assert done.exit_code == 0
    assert "60 added, 0 updated, 0 unchanged, 0 skipped, 0 failed." in done.stdout
    assert "60 pages queued. To download them: pagekeep work --until-empty" in done.stdout
    assert len(json.loads(run("jobs", "--json", "--limit", "100").stdout)["jobs"]) == 60


def test_never_queues_nothing() -> None:
    assert reported("pocket.csv", "--fetch", "never")["queued"] == 0
    assert json.loads(run("jobs", "--json").stdout)["jobs"] == []


def test_several_files_and_a_folder_come_in_together(here: Path) -> None:
    (here / "exports").mkdir()
    (here / "onetab.txt").rename(here / "exports" / "tabs.txt")
    answer = reported("goodlinks.json", "matter.csv", "exports", "--fetch", "never")
    assert answer["formats"] == {"goodlinks": 60, "matter": 60, "list": 60}
    assert count() == 60


def test_a_dry_run_writes_nothing(here: Path) -> None:
    done = run("import", "karakeep.json", "--dry-run")
    assert "Dry run, nothing was changed: 60 added" in done.stdout
    assert count() == 0
    assert not list(here.glob("*.failed*"))


def test_failed_rows_are_reported_and_written_to_a_file_that_can_be_imported(here: Path) -> None:
    done = run("import", "karakeep.json", "--fetch", "never")
    assert done.exit_code == 2
    assert "line 1, entry 61: It is a text without an address" in done.stderr
    file = here / "karakeep.json.failed.jsonl"
    assert str(file.name) in done.stdout
    assert len(file.read_text("utf-8").splitlines()) == 2
    file.write_text(file.read_text("utf-8").replace('"url": ""', '"url": "https://example.com/thought"', 1), "utf-8")
    again = reported(file.name, "--fetch", "never", code=2)
    assert (again["added"], again["failed"]) == (1, 1)
    assert len(file.read_text("utf-8").splitlines()) == 1
    assert again["failed_rows"] == file.name


def test_the_file_of_failed_rows_can_be_named(here: Path) -> None:
    reported("karakeep.json", "--failed", "rest.jsonl", "--fetch", "never", code=2)
    assert (here / "rest.jsonl").exists()


def test_a_format_can_be_named() -> None:
    Path("notes.txt").write_text("some words first\nhttps://example.com/a\n")
    assert run("import", "notes.txt").exit_code == 2
    assert reported("notes.txt", "--format", "list", "--fetch", "never", code=2)["added"] == 1


def test_what_is_not_an_export_is_bad_input() -> None:
    Path("diary.txt").write_text("Dear diary")
    done = run("import", "diary.txt")
    assert done.exit_code == 2
    assert "The format of diary.txt is not known." in done.stderr
    assert run("import", "missing.txt").exit_code == 2


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything can be read here")
def test_a_file_that_may_not_be_read_is_reported() -> None:
    Path("pocket.csv").chmod(0)
    assert "Cannot read" in run("import", "pocket.csv").stderr


def test_bookmarks_that_are_not_pages_by_their_nature_are_left_out_and_reported() -> None:
    links = '<DT><A HREF="javascript:void(0)">Send it</A><DT><A HREF="https://example.com/a">A page</A>'
    Path("bookmarks.html").write_text(f"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL>{links}</DL>")
    done = run("import", "bookmarks.html")
    assert done.exit_code == 0
    assert "A bookmarklet is not a page: Send it" in done.stderr
    assert "1 added, 0 updated, 0 unchanged, 1 skipped, 0 failed." in done.stdout
    assert "1 page queued. To download it: pagekeep work --until-empty" in done.stdout
