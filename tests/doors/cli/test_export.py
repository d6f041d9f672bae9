"""`export`, `mirror`, `compare` and `compared` from the door."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli
from pagekeep.model import ItemBlob
from pagekeep.store import Store, open_store
from tests.doors.cli.test_library import Shell
from tests.library.exports.making import fill
from tests.store.making import NOW

PAGE = f"<title>The keeper</title><article><h1>The keeper</h1>{'<p>Ships are counted before breakfast.</p>' * 40}</article>"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(tmp_path / "library.db")) as store:
        fill(store, 6)
        yield store


@pytest.fixture
def shell(tmp_path: Path, library: Store) -> Shell:
    return Shell(None, {}, tmp_path)  # type: ignore[arg-type]


def test_an_export_shows_how_many_pages_it_wrote(shell: Shell, tmp_path: Path) -> None:
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


def test_a_mirror_shows_what_it_did(shell: Shell, tmp_path: Path) -> None:
    done = shell.run("mirror", str(tmp_path / "vault"))
    assert done.stdout == "6 written, 0 removed, 0 read back, 0 renamed, 0 conflict copies.\n"
    broken = next((tmp_path / "vault").glob("*.md"))
    broken.write_text("---\nid: [\n---\n")
    reported = shell.json("mirror", str(tmp_path / "vault"))
    assert (reported["written"], [name for name, _ in reported["problems"]]) == ([], [broken.name])


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
    reported = json.loads(run("compare", "pagekeep", "pagekeep", str(tmp_path), "--json").stdout)
    assert reported["summary"]["avg_similarity"] == "1.0000"
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
    made = shell.json("backup", str(tmp_path / "kept"))
    assert (made["success"], made["items"], made["damaged"]) == (True, 6, [])
    assert "0 new" in shell.run("backup", str(tmp_path / "kept")).stdout
    before = shell.json("list", "--all")["items"]
    shell.env |= {"PAGEKEEP_LIBRARY": str(tmp_path / "new.db"), "PAGEKEEP_RULES": str(tmp_path / "fresh")}
    done = shell.json("library", "restore", str(tmp_path / "kept"))
    assert (done["items"], done["settings"], done["different"]) == (6, [str(tmp_path / "fresh" / "own.yaml")], [])
    assert shell.json("list", "--all")["items"] == before
    assert shell.run("library", "restore", str(tmp_path / "kept")).exit_code == 2  # it is not empty


def test_backup_file_is_restored(shell: Shell, tmp_path: Path) -> None:
    done = shell.run("backup", "--single-file", str(tmp_path / "copy"))
    assert (done.exit_code, done.stdout, done.stderr) == (0, f"6 pages backed up to {tmp_path / 'copy'}.\n", "")
    shell.env["PAGEKEEP_LIBRARY"] = str(tmp_path / "new.db")
    assert shell.json("library", "restore", str(tmp_path / "copy"))["items"] == 6
    assert shell.run("library", "restore", str(tmp_path / "copy")).exit_code == 2
    assert shell.run("library", "restore", str(tmp_path / "none")).exit_code == 2


def test_a_backup_is_a_folder_unless_one_file_is_wanted(shell: Shell, tmp_path: Path) -> None:
    for name in ("kept", "other/"):
        done = shell.run("backup", f"{tmp_path}/{name}")
        assert (done.exit_code, done.stderr) == (0, "")
        assert (tmp_path / name / "pagekeep-backup.json").is_file()
    done = shell.run("backup", "--single-file", str(tmp_path / "kept"))
    assert (done.exit_code, "is a folder" in done.stderr) == (2, True)


def test_a_file_without_the_flag_still_works_and_names_the_flag(shell: Shell, tmp_path: Path) -> None:
    shell.run("backup", "--single-file", str(tmp_path / "copy"))
    for path in (tmp_path / "copy", tmp_path / "new.db"):  # one that is a file, and a name that can only be one
        done = shell.run("backup", str(path))
        assert (done.exit_code, path.is_file()) == (0, True)
        assert f"Write: pagekeep backup --single-file {path}" in done.stderr


def test_a_backup_without_its_kept_files_is_refused_and_the_rest_can_be_restored(
    shell: Shell, library: Store, tmp_path: Path
) -> None:
    item_id = next(iter(library.items.all_ids()))
    names = [library.blobs.put(f"picture {number}".encode(), NOW) for number in range(100)]
    links = [
        ItemBlob("picture", f"https://example.com/{name}.png", "kept", NOW, "image/png", name, 9) for name in names
    ]
    library.blobs.link(item_id, links)
    copy = tmp_path / "copy.db"
    assert shell.run("backup", "--single-file", str(copy)).exit_code == 0
    shutil.rmtree(f"{copy}.blobs")
    shell.env["PAGEKEEP_LIBRARY"] = str(tmp_path / "new.db")
    done = shell.run("library", "restore", str(copy))
    assert done.exit_code == 2
    assert "What is missing or damaged (100)" in done.stderr
    assert f"The kept file {min(names)} is missing or damaged." in done.stderr
    assert "--what-can-be" in done.stderr
    assert not (tmp_path / "new.db").exists()
    done = shell.run("library", "restore", str(copy), "--what-can-be")
    assert (done.exit_code, "Restored 6 pages" in done.stdout) == (1, True)
    assert all(name in done.stderr for name in names)
    assert len(shell.json("list", "--all")["items"]) == 6


def test_a_damaged_text_is_reported_by_backup_and_repair(shell: Shell, library: Store, tmp_path: Path) -> None:
    item_id = next(iter(library.items.all_ids()))
    forms = (("--single-file", str(tmp_path / "copy.db")), (str(tmp_path / "kept"),))
    for form in forms:
        assert shell.run("backup", *form).exit_code == 0
    library._engine.write(lambda tx: tx.run("UPDATE items SET content = content || '.' WHERE id = :id", id=item_id))
    for form in forms:
        done = shell.run("backup", *form)
        assert done.exit_code == 1
        assert f"The text of {item_id} is damaged in the library. The backup has it from an earlier one." in done.stderr
    for number, form in enumerate(forms):
        restored = shell.run("library", "restore", form[-1], "--library", str(tmp_path / f"{number}.db"))
        assert restored.exit_code == 0
    done = shell.run("repair", shell.env["PAGEKEEP_LIBRARY"])
    assert (done.exit_code, "Nothing is lost" in done.stdout, item_id in done.stdout) == (1, False, True)
