"""`annotations` from the door."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.library.items.annotations import annotate
from pagekeep.store import open_store
from tests.doors.cli.test_library import Shell
from tests.store.making import make_item


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    with closing(open_store(tmp_path / "library.db")) as store:
        item = store.items.save(make_item(title="The pier"), None)
        annotate(store, item.id, "the harbour wall", note="how high?")
        annotate(store, item.id, "", note="read again")
    return Shell(None, {}, tmp_path)  # type: ignore[arg-type]


def test_annotations_are_listed_and_searched(shell: Shell) -> None:
    listed = shell.run("annotations")
    assert listed.exit_code == 0
    assert [line.split("\t")[1:] for line in listed.stdout.splitlines()] == [
        ["highlight", "note", "page"],
        ["", "read again", "The pier"],
        ["the harbour wall", "how high?", "The pier"],
    ]
    found = shell.json("annotations", "harbour high")
    assert [(one["quote"], one["item"]["title"]) for one in found["annotations"]] == [("the harbour wall", "The pier")]


def test_annotations_are_written_to_a_file_or_to_stdout(shell: Shell, tmp_path: Path) -> None:
    out = tmp_path / "highlights.md"
    assert shell.run("annotations", "--format", "markdown", str(out)).exit_code == 0
    assert "> the harbour wall\n\nhow high?" in out.read_text("utf-8")
    piped = shell.run("annotations", "--format", "readwise", "wall", "-")
    assert [line.split(",")[0] for line in piped.stdout.splitlines()] == ["Highlight", "the harbour wall"]


@pytest.mark.parametrize("options", [("--format", "csv"), ("two", "words")])
def test_what_is_incomplete_is_explained(shell: Shell, options: tuple[str, ...]) -> None:
    assert shell.run("annotations", *options).exit_code == 2
