"""`edit`, `change`, `lists` and `save-rules` on the command line."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pagekeep.doors.cli.main import cli
from pagekeep.store import open_store
from tests.store.making import make_item


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PAGEKEEP_LIBRARY", str(tmp_path / "library.db"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with closing(open_store(tmp_path / "library.db", "local")) as store:
        for number, title in enumerate(("Boats", "Soup")):
            store.items.save(make_item(number, title=title, quality="article"), None)
    return tmp_path / "library.db"


def run(*args: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, list(args))
    assert result.exit_code == code, result.output
    return result


def read(*args: str) -> Any:
    return json.loads(run(*args, "--json").output)


def find(title: str) -> dict[str, Any]:
    return next(item for item in read("list", "--all")["items"] if item["title"] == title)


def test_a_page_is_edited_and_it_is_undone(library: Path) -> None:
    key = find("Boats")["id"]
    assert run("edit", key[:8], "--title", "My boats", "--date", "2020-02").output.startswith("Edited")
    assert find("My boats")["published_at"] == "2020-02"
    assert run("undo").output == f"Undid edit  {key[:8]}  Boats  (tags: none)\n"
    assert find("Boats")["edited_fields"] == []
    run("edit", key, code=2)
    run("edit", key, "--date", "soon", code=2)


def test_pages_that_a_search_finds_are_changed(library: Path) -> None:
    run("lists", "add", "To read")
    done = run("change", "after:2000", "--tag", "x", "--list", "to read", "--archive", "--yes")
    assert done.output == "Archived, Added the tag x, Added to a list: 2 pages\n"
    assert [item["tags"] for item in read("lists", "show", "To read")["items"]] == [["x"], ["x"]]
    assert read("undo")["count"] == 2
    assert read("lists", "show", "To read")["items"] == []
    run("change", "", "--yes", code=2)


def test_lists_are_filled_and_ordered(library: Path) -> None:
    boats, soup = find("Boats")["id"], find("Soup")["id"]
    run("lists", "add", "Tonight")
    run("lists", "add", "Found", "--search", "soup")
    run("lists", "put", "Tonight", boats, soup)
    run("lists", "move", "Tonight", soup, "--before", boats)
    assert [item["title"] for item in read("lists", "show", "tonight")["items"]] == ["Soup", "Boats"]
    run("lists", "take", "Tonight", boats)
    assert [(one["name"], one["count"]) for one in read("lists")["lists"]] == [("Found", None), ("Tonight", 1)]
    assert [item["title"] for item in read("lists", "show", "Found")["items"]] == ["Soup"]
    run("lists", "change", "Found", "--name", "Soups")
    assert "Soups" in run("lists").output
    run("lists", "delete", "Soups")
    run("lists", "show", "Soups", code=2)


def test_a_save_rule_is_tried_added_and_switched_on(library: Path) -> None:
    assert "add the tag sea" in run("save-rules", "try", "boats", "--tag", "sea").output
    run("save-rules", "add", "boats", "--tag", "sea", "--name", "Sea")
    assert run("save-rules", "apply", "Sea").output == "Applied the save rule Sea: 1 page\n"
    assert find("Boats")["tags"] == ["sea"]
    run("undo")
    assert find("Boats")["tags"] == []
    run("save-rules", "on", "Sea")
    assert read("save-rules")["rules"][0]["enabled"] is True
    run("save-rules", "off", "sea")
    run("save-rules", "delete", "sea")
    assert read("save-rules")["rules"] == []
