"""Passages that readers marked."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from pagekeep.errors import NotFound
from pagekeep.model import Annotation
from pagekeep.store import Store
from tests.store.conftest import Opener
from tests.store.making import NOW, make_item, moment


def passage(item_id: str, **values: str) -> Annotation:
    return replace(Annotation(str(uuid.uuid4()), item_id, "quote", "before", "after", "", None, NOW, NOW), **values)


def test_passages_come_back_oldest_first_and_change_by_id(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    late = library.annotations.put(passage(item.id, created_at=moment(9)))
    early = library.annotations.put(passage(item.id, created_at=moment(3)))
    assert library.annotations.of_item(item.id) == (early, late)
    changed = library.annotations.put(replace(early, note="now with a note"))
    assert library.annotations.of_item(item.id) == (changed, late)
    library.annotations.delete(late.id, moment(20))
    assert library.annotations.of_item(item.id) == (changed,)


def test_a_marked_item_has_changed(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    marked = library.annotations.put(passage(item.id, updated_at=moment(805)))
    assert library.items.get(item.id).updated_at == moment(805)
    library.annotations.put(replace(marked, updated_at=moment(2)))
    assert library.items.get(item.id).updated_at == moment(805), "never earlier"
    library.annotations.delete(marked.id, moment(809))
    assert library.items.get(item.id).updated_at == moment(809)


def test_a_passage_needs_an_item_of_its_reader(library: Store, opened: Opener) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    stranger = opened("stranger")
    with pytest.raises(NotFound):
        stranger.annotations.put(passage(item.id))
    assert stranger.annotations.of_item(item.id) == ()


def test_a_purged_item_takes_its_passages_along(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    marked = library.annotations.put(passage(item.id))
    library.items.delete(item.id, NOW)
    assert library.annotations.of_item(item.id) == (marked,)
    library.items.purge([item.id])
    assert library.annotations.of_item(item.id) == ()


def test_unmarking_what_is_not_marked_says_so(library: Store) -> None:
    with pytest.raises(NotFound):
        library.annotations.delete("none", moment(20))
