"""`export`, `mirror`, `compare` and `compared` from the door."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli
from pagekeep.store import Store, open_store
from tests.doors.cli.test_library import Shell
from tests.library.exports.making import fill

PAGE = f"<title>The keeper</title><article><h1>The keeper</h1>{'<p>Ships are counted before breakfast.</p>' * 40}</article>"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(tmp_path / "library.db")) as store:
        fill(store, 6)
        yield store


@pytest.fixture
def shell(tmp_path: Path, library: Store) -> Shell:
    return Shell(None, {}, tmp_path)  # type: ignore[arg-type]


def test_an_export_tells_how_many_pages_it_wrote(shell: Shell, tmp_path: Path) -> None:
    done = shell.run("export", str(tmp_path / "notes"), "--profile", "obsidian")
    assert (done.exit_code, done.stdout) == (0, "6 pages exported.\n")
    assert len(list((tmp_path / "notes").glob("*.md"))) == 6
    again = shell.json("export", str(tmp_path / "notes"), "--profile", "obsidian", "--query", "is:pinned")
    assert again == {"success": True, "items": 2, "written": 0, "unchanged": 2, "pictures": 0, "failed_pictures": {}}


@pytest.mark.parametrize(
    ("format_", "begin"), [("jsonl", '{"pagekeep": 1'), ("netscape", "<!DOCTYPE NETSCAPE"), ("html", "<!doctype html>")]
)
def test_one_file_goes_to_a_pipe_with_nothing_else(shell: Shell, format_: str, begin: str) -> None:
    done = shell.run("export", "--format", format_, "-")
    assert done.exit_code == 0
    assert done.stdout.startswith(begin)
    assert "exported" not in done.stdout


def test_a_book_is_written(shell: Shell, tmp_path: Path) -> None:
    assert shell.run("export", "--format", "epub", str(tmp_path / "a.epub")).exit_code == 0
    assert ZipFile(tmp_path / "a.epub").namelist()[0] == "mimetype"


def test_a_folder_of_markdown_cannot_go_to_a_pipe(shell: Shell) -> None:
    done = shell.run("export", "-")
    assert done.exit_code == 2
    assert "Name a folder" in done.stderr


def test_what_is_exported_is_imported(shell: Shell, tmp_path: Path) -> None:
    shell.run("export", "--format", "jsonl", str(tmp_path / "a.jsonl"))
    shell.env["PAGEKEEP_LIBRARY"] = str(tmp_path / "new.db")
    assert shell.run("import", str(tmp_path / "a.jsonl"), "--fetch", "never").exit_code == 0
    assert len(shell.json("list", "--all")["items"]) == 6


def test_a_mirror_tells_what_it_did(shell: Shell, tmp_path: Path) -> None:
    done = shell.run("mirror", str(tmp_path / "vault"))
    assert done.stdout == "6 written, 0 removed, 0 read back, 0 renamed, 0 conflict copies.\n"
    broken = next((tmp_path / "vault").glob("*.md"))
    broken.write_text("---\nid: [\n---\n")
    told = shell.json("mirror", str(tmp_path / "vault"))
    assert (told["written"], [name for name, _ in told["problems"]]) == ([], [broken.name])


def test_a_mirror_that_watches_ends_when_it_is_interrupted(shell: Shell, tmp_path: Path) -> None:
    process = shell.start("mirror", "--watch", "--every", "0.1", str(tmp_path / "vault"))
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(6)]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert all(line.startswith("written  ") for line in lines)
    assert process.returncode == 130


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def test_two_extractors_are_compared(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(PAGE)
    done = run("compare", "pagekeep:bare", "pagekeep", str(tmp_path), "--out", str(tmp_path / "out"))
    assert done.exit_code == 0
    assert done.stdout.splitlines()[1].startswith("all\t1\t0\t1.000")
    assert (tmp_path / "out" / "report.html").exists()
    told = json.loads(run("compare", "pagekeep", "pagekeep", str(tmp_path), "--json").stdout)
    assert told["summary"]["avg_similarity"] == "1.0000"
    assert run("compare", "x", "y", str(tmp_path)).exit_code == 2


def test_without_a_log_compared_says_how_to_get_one(shell: Shell) -> None:
    done = shell.run("compared")
    assert done.exit_code == 2
    assert "PAGEKEEP_MODE=compare" in done.stderr


def test_backup_folder_is_restored_with_settings_and_rules(shell: Shell, tmp_path: Path) -> None:
    config, rules = tmp_path / "config" / "config.toml", tmp_path / "config" / "rules"
    rules.mkdir(parents=True)
    config.write_text("auto_tags = false\n")
    (rules / "own.yaml").write_text("[]\n")
    shell.env |= {"PAGEKEEP_CONFIG": str(config), "PAGEKEEP_RULES": str(rules)}
    made = shell.json("backup", f"{tmp_path / 'kept'}/")
    assert (made["success"], made["items"], made["damaged"]) == (True, 6, [])
    assert "0 new" in shell.run("backup", str(tmp_path / "kept")).stdout
    before = shell.json("list", "--all")["items"]
    shell.env |= {"PAGEKEEP_LIBRARY": str(tmp_path / "new.db"), "PAGEKEEP_RULES": str(tmp_path / "fresh")}
    done = shell.json("library", "restore", str(tmp_path / "kept"))
    assert (done["items"], done["settings"], done["different"]) == (6, [str(tmp_path / "fresh" / "own.yaml")], [])
    assert shell.json("list", "--all")["items"] == before
    assert shell.run("library", "restore", str(tmp_path / "kept")).exit_code == 2  # it is not empty


def test_backup_file_is_restored(shell: Shell, tmp_path: Path) -> None:
    assert shell.run("backup", str(tmp_path / "copy.db")).exit_code == 0
    shell.env["PAGEKEEP_LIBRARY"] = str(tmp_path / "new.db")
    assert shell.json("library", "restore", str(tmp_path / "copy.db"))["items"] == 6
    assert shell.run("library", "restore", str(tmp_path / "copy.db")).exit_code == 2
    assert shell.run("library", "restore", str(tmp_path / "none")).exit_code == 2
