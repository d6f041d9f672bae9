"""Searching a pack by section."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekeep.errors import NotFound
from pagekeep.library.packs.folder import OpenPack, write_folder
from pagekeep.library.packs.pack import SitePage, arrange

ROOT = "https://docs.example/"


@pytest.fixture
def pack(tmp_path: Path) -> OpenPack:
    pages = [
        SitePage(ROOT, "Start", "Welcome to the manual of knots."),
        SitePage(
            f"{ROOT}bowline",
            "Bowline",
            "# Bowline\n\nA loop.\n\n## Steps\n\nMake a small loop.\n\n## Strength\n\nIt keeps 60 % of the rope.\n",
        ),
        SitePage(f"{ROOT}reef", "Reef knot", "# Reef knot\n\nFor sails. Never for climbing: strength is low.\n"),
    ]
    write_folder("Knots", ROOT, "", arrange(pages, []), tmp_path / "knots")
    opened = OpenPack(tmp_path / "knots")
    opened.index(row for task in opened.waiting_tasks() for row in task.run())
    return opened


def test_the_section_with_all_words_comes_first(pack: OpenPack) -> None:
    found = pack.search("strength rope", 5)
    assert [(one.path, one.section) for one in found] == [("bowline.md", "Strength")]
    assert "60 %" in found[0].snippet
    assert pack.search("STRENGTH", 5)[0].section == "Strength"


def test_some_words_are_better_than_none(pack: OpenPack) -> None:
    assert pack.search("sails zeppelin", 5)[0].path == "reef.md"


@pytest.mark.parametrize("query", ["", '"', "zeppelin", "AND OR NOT", '") OR 1=1 --', "a" * 10_000])
def test_any_query_is_harmless(pack: OpenPack, query: str) -> None:
    assert pack.search(query, 5) == []


@pytest.mark.parametrize("key", ["reef.md", "reef", f"{ROOT}reef", "Reef Knot"])
def test_a_page_is_found_by_path_address_or_title(pack: OpenPack, key: str) -> None:
    assert pack.find(key).path == "reef.md"
    assert pack.read(pack.find(key)).startswith("# Reef knot")


def test_other_pages_are_not_found(pack: OpenPack) -> None:
    with pytest.raises(NotFound):
        pack.find("../../etc/passwd")
