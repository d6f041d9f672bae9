"""How the command line treats people and programs: suggestions, one JSON shape, undo, open, tags, completion, the pager."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from pagekeep.doors.cli.main import cli
from tests.doors.cli.test_sources import Library
from tests.site.fixtures import article

URL = "https://harbour.example/lamp"


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    found = Library(tmp_path)
    found.run("save", "-", "--url", URL, "--tag", "sea", given=article(300).encode())
    return found


def item(library: Library) -> dict[str, Any]:
    (found,) = library.json("list", "--all")["items"] or library.json("list", "--deleted")["items"]
    result: dict[str, Any] = found
    return result


@pytest.mark.parametrize("command", list(commands(cli)), ids=" ".join)
def test_every_command_takes_json_and_reports_mistakes_in_one_shape(command: tuple[str, ...]) -> None:
    assert "--json" in CliRunner().invoke(cli, [*command, "--help"]).stdout
    done = CliRunner().invoke(cli, [*command, "--no-such-option", "--json"])
    assert done.exit_code == 2
    shown = json.loads(done.stdout)
    assert (shown["success"], shown["error"]["type"]) == (False, "UsageError")
    assert "--no-such-option" in shown["error"]["message"]


def test_what_succeeds_says_so_first(library: Library) -> None:
    for command in (("list",), ("search", "kettle"), ("read", URL), ("stats",), ("tags",), ("jobs",), ("tag", URL)):
        shown = library.json(*command)
        assert (next(iter(shown)), shown["success"]) == ("success", True)


@pytest.mark.parametrize(("typed", "meant"), [("sav", "save"), ("serch", "search"), ("LIST", "list")])
def test_an_unknown_command_names_the_most_similar(typed: str, meant: str) -> None:
    done = CliRunner().invoke(cli, [typed])
    assert (done.exit_code, f"No such command {typed!r}: did you mean {meant}?" in done.stderr) == (2, True)


def test_a_backup_names_the_folder_that_is_missing(library: Library, tmp_path: Path) -> None:
    done = library.run("backup", "--single-file", str(tmp_path / "no" / "copy.db"))
    assert (done.exit_code, f"There is no folder {tmp_path / 'no'}" in done.stderr) == (2, True)


def test_an_unknown_operator_is_an_error_and_an_address_is_not(library: Library) -> None:
    done = library.run("search", "autor:ada kettle https://x.example")
    assert done.exit_code == 2
    assert "There is no search operator `autor:`." in done.stderr
    assert "Operators are is:, domain:" in done.stderr
    assert library.json("search", "https://x.example tag:sea")["unknown_operators"] == []
    assert library.run("search", "kettle tag:sea").stderr == ""


def test_checks_are_named_in_words(library: Library) -> None:
    shown = library.run("explain", URL).stdout
    assert "text density: " in shown
    assert "text_density" not in shown


def test_tags_are_listed_with_counts(library: Library) -> None:
    library.run("save", "-", "--url", "https://harbour.example/wall", "--tag", "Sea", given=article(200).encode())
    counts = {row["tag"]: row["count"] for row in library.json("tags")["tags"]}
    assert counts["sea"] == 2
    assert "\nsea\t2\n" in library.run("tags").stdout


@pytest.mark.parametrize(
    ("change", "field"),
    [(("pin",), "pinned"), (("archive",), "archived"), (("delete",), "deleted_at"), (("tag",), "tags")],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_the_last_change_is_undone(library: Library, change: tuple[str, ...], field: str) -> None:
    before = item(library)
    library.run(*change, URL, *(("lamp", "--remove", "sea") if change == ("tag",) else ()))
    assert item(library)[field] != before[field]
    done = library.run("undo")
    assert (done.exit_code, done.stdout.startswith(f"Undid {change[0]}  {before['id'][:8]}")) == (0, True)
    assert item(library)[field] == before[field]
    again = library.run("undo")
    assert (again.exit_code, "There is nothing to undo." in again.stderr) == (2, True)


def test_what_changed_again_since_is_not_undone(library: Library) -> None:
    library.run("archive", URL)
    key, _ = item(library)["id"], library.run("unarchive", URL)
    remembered = next(library.folder.rglob("undo.json"))
    actions = json.loads(remembered.read_text())
    library.run("archive", URL)
    library.run("save", "-", "--url", URL, "--tag", "new", given=article(400).encode())
    remembered.write_text(
        json.dumps(actions)
    )  # the last change of this command line: moved to the inbox, archived since
    done = library.run("undo")
    assert (done.exit_code, "1 page changed again since stay as they are" in done.stdout) == (0, True)
    assert (item(library)["id"], item(library)["archived"]) == (key, True)


def test_a_change_is_undone_and_other_changes_since_stay(library: Library) -> None:
    library.run("archive", URL)
    library.run("save", "-", "--url", URL, "--tag", "new", given=article(400).encode())
    assert library.run("undo").exit_code == 0
    after = item(library)
    assert (after["archived"], "new" in after["tags"]) == (False, True)


def test_a_purge_cannot_be_undone_and_undo_says_so(library: Library) -> None:
    library.run("delete", URL)
    library.run("purge", "--yes")
    assert "a purge, which cannot be undone" in library.run("undo").stderr


def test_open_starts_the_browser_with_the_address(library: Library, tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/opened\n')
    browser.chmod(0o755)
    environment = {**os.environ, **library.env, "BROWSER": f"{browser} %s", "PAGEKEEP_LISTEN": "127.0.0.1:1"}
    command = [sys.executable, "-m", "pagekeep", "open"]
    done = subprocess.run([*command, URL], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"Opened {URL}\n")
    assert (tmp_path / "opened").read_text() == f"{URL}\n"
    reader = subprocess.run([*command, URL, "--reader"], env=environment, capture_output=True, text=True)
    assert reader.returncode == 2
    assert "No server answers at 127.0.0.1:1.\n  Start the reader: pagekeep serve" in reader.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_ask_the_program(shell: str) -> None:
    done = CliRunner().invoke(cli, ["completion", shell])
    assert done.exit_code == 0
    assert f"_PAGEKEEP_COMPLETE={shell}_complete" in done.stdout


def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    program = tmp_path / "pagekeep"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m pagekeep "$@"\n')
    program.chmod(0o755)
    script = """
        eval "$(pagekeep completion bash)"
        COMP_WORDS=(pagekeep unarc); COMP_CWORD=1; _pagekeep_completion pagekeep; echo "${COMPREPLY[@]}"
        COMPREPLY=(); COMP_WORDS=(pagekeep list --arch); COMP_CWORD=2; _pagekeep_completion pagekeep; echo "${COMPREPLY[@]}"
    """
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert done.stdout.split() == ["unarchive", "--archived"], done.stderr


def test_on_a_terminal_a_page_is_read_with_a_header_in_the_pager(library: Library, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text(f"#!/bin/sh\ncat > {tmp_path}/paged\n")
    pager.chmod(0o755)
    library.run("save", "-", "--url", URL, given=article(3_000).encode())
    outer, inner = pty.openpty()
    environment = {**os.environ, **library.env, "PAGER": str(pager), "COLUMNS": "80", "LINES": "24", "TERM": "xterm"}
    command = [sys.executable, "-m", "pagekeep", "read", URL]
    with subprocess.Popen(command, stdin=inner, stdout=inner, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stderr is not None
        assert process.wait(60) == 0, process.stderr.read().decode()
    os.close(inner)
    os.close(outer)
    lines = click.unstyle((tmp_path / "paged").read_text()).splitlines()
    assert lines[0] == "The keeper"
    assert "harbour.example" in lines[1]
    assert lines[2] == URL
    assert lines[3].startswith("Article captured (2,9")
    assert lines[4].startswith("Tags: sea")
