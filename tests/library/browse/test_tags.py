"""Renaming, merging and deleting tags, and undoing it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library.browse.tags import delete_tag, get_change, rename_tag, undo_tags
from pagekeep.store import Store, open_store
from tests.store.making import make_item

NOW = "2025-03-20T10:30:00.000000Z"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(tmp_path / "library.db")) as store:
        for number in range(130):  # more than one batch
            store.upsert(make_item(number, tags=["Sea", "ocean"] if number % 2 else ["sea", "tide"]), None)
        store.delete(store.find_url("https://example.com/page/1").id, NOW)  # type: ignore[union-attr]
        yield store


def _tags(library: Store) -> dict[str, int]:
    return library.counts(["tag"])["tag"]


def test_a_tag_is_renamed_on_all_items_and_that_is_undone(library: Store) -> None:
    before = _tags(library)
    action = rename_tag(library, "SEA", "Shore")
    assert (action.changed, action.label) == (130, "Renamed the tag SEA to Shore")
    assert _tags(library) == {"ocean": 64, "shore": 129, "tide": 65}
    assert [one.name for one in library.suggest("tag", "sh")] == ["Shore"]
    assert get_change(library, action.id) is not None
    assert undo_tags(library, action.id) == 130
    assert _tags(library) == before
    assert get_change(library, action.id) is None
    assert library.count_faults() == []


def test_two_tags_become_one_and_two_again(library: Store) -> None:
    action = rename_tag(library, "sea", "ocean")
    assert _tags(library) == {"ocean": 129, "tide": 65}
    undo_tags(library, action.id)
    assert _tags(library) == {"ocean": 64, "sea": 129, "tide": 65}


def test_a_tag_gets_another_spelling(library: Store) -> None:
    rename_tag(library, "tide", "TIDE")
    assert [one.name for one in library.suggest("tag", "tide")] == ["TIDE"]
    assert _tags(library)["tide"] == 65


def test_a_tag_is_removed_and_comes_back(library: Store) -> None:
    action = delete_tag(library, "tide")
    assert "tide" not in _tags(library)
    undo_tags(library, action.id)
    assert _tags(library)["tide"] == 65


def test_what_is_no_tag_is_refused(library: Store) -> None:
    with pytest.raises(NotFound, match="No page has the tag"):
        delete_tag(library, "nothing")
    for name in ("", " # ", "a,b", "x" * 300):
        with pytest.raises(InvalidQuery):
            rename_tag(library, "sea", name)
