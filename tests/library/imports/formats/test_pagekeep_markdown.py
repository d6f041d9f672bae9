"""Markdown files as an import: ours, Obsidian's, and what others made of them."""

from __future__ import annotations

import pytest

from pagekeep.library.imports.formats.own_files import matches_tree
from pagekeep.store import Store
from tests.library.imports.conftest import Bring, everything

CLIPPED = """---\r
title: "The keeper's log"\r
source: "https://example.com/log?utm_source=x"\r
author:\r
  - "Ann Lee"\r
  - "Bo Ek"\r
published: 2024-12-24\r
created: 2025-01-06\r
description: "Ships"\r
tags:\r
  - "clippings"\r
---\r
Ships were counted.\r
"""


def test_a_clipping_of_obsidian_comes_in_with_what_it_says(bring: Bring, library: Store) -> None:
    assert bring(CLIPPED, "x.md").formats == {"markdown": 1}
    item = everything(library)["https://example.com/log"]
    assert (item.title, item.author, item.published_at) == ("The keeper's log", "Ann Lee, Bo Ek", "2024-12-24")
    assert (item.saved_at, list(item.metadata.tags)) == ("2025-01-06T00:00:00.000000Z", ["clippings"])
    assert item.content.endswith("\n\nShips were counted.\n")
    assert bring(CLIPPED, "x.md").unchanged == 1


def test_the_revision_of_a_mirrored_file_is_not_imported(bring: Bring, library: Store) -> None:
    bring("---\nsource: https://example.com/a\nmirror_revision: r0123abcd\n---\nText.\n")
    (item,) = everything(library).values()
    assert "mirror_revision" not in item.content


def test_a_file_without_an_id_is_the_same_item_every_time(bring: Bring, library: Store) -> None:
    bring("---\nsource: https://example.com/a\n---\nText.\n")
    bring("---\nsource: https://example.com/a\ntags: [new]\n---\nText.\n")
    (item,) = everything(library).values()
    assert list(item.metadata.tags) == ["new"]


@pytest.mark.parametrize(
    "text",
    [
        "---\nsource: https://example.com/a\nx: [\n---\nText.\n",
        "---\nsource: https://exa mple/\n---\nText.\n",
        "---\nurl: https://example.com/\nx: " + "[" * 5_000 + "\n---\n",
        "---\nurl: https://example.com/\nx: &a [1]\ny: *a\n---\n",
    ],
)
def test_a_file_that_cannot_be_read_is_reported(bring: Bring, library: Store, text: str) -> None:
    report = bring(text, "x.md")
    assert (report.failed, report.added) == (1, 0)


@pytest.mark.parametrize("value", ["[1, 2]", "{a: b}", "7", "true", "2025-13-45", "null", "''"])
def test_fields_of_the_wrong_kind_do_no_harm(bring: Bring, library: Store, value: str) -> None:
    names = (
        "title",
        "author",
        "published_date",
        "saved_at",
        "tags",
        "quality",
        "word_count",
        "id",
        "notes",
        "pinned",
        "language",
    )
    block = "\n".join(f"{name}: {value}" for name in names)
    assert bring(f"---\nsource: https://example.com/a\n{block}\n---\nText.\n").added == 1


def test_a_folder_is_known_by_the_names_of_its_files() -> None:
    assert matches_tree(["A page 3f2a9b1c.md", "images/x.png", "Another 00000000.md"])
    assert not matches_tree(["Diary.md", "A page 3f2a9b1c.md"])
    assert not matches_tree(["a.html"])
