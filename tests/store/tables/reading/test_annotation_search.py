"""Annotations across the library."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from pagekeep.errors import InvalidQuery
from pagekeep.model import Annotation, NewItem
from pagekeep.store import Store
from tests.store.conftest import Opener
from tests.store.making import NOW, make_item, moment


def mark(library: Store, item_id: str, number: int, quote: str = "quote", note: str = "") -> str:
    time = moment(number)
    annotation = Annotation(str(uuid.uuid4()), item_id, quote, "", "", note, None, time, time)
    return library.annotations.put(annotation).id


def found(library: Store, text: str) -> set[str]:
    return {annotation.quote for annotation in library.annotations.find(text).annotations}


def test_all_annotations_come_newest_first_in_pages(library: Store, opened: Opener) -> None:
    items = [library.items.save(make_item(n, user_id=library.user_id), None) for n in range(2)]
    ids = [mark(library, items[number % 2].id, number) for number in range(7)]
    seen, after = [], None
    while True:
        page = library.annotations.find(limit=3, after=after)
        seen += [annotation.id for annotation in page.annotations]
        assert {annotation.item_id for annotation in page.annotations} <= page.items.keys()
        after = page.next
        if after is None:
            break
    assert seen == ids[::-1]
    assert opened("stranger").annotations.find().annotations == ()
    library.items.delete(items[1].id, NOW)
    assert {annotation.item_id for annotation in library.annotations.find().annotations} == {items[0].id}


def test_items_come_by_their_newest_annotation(library: Store) -> None:
    items = [library.items.save(make_item(n, user_id=library.user_id), None) for n in range(3)]
    for number, item in enumerate((items[0], items[1], items[0], items[2], items[1])):
        mark(library, item.id, number)
    first = library.annotations.find_newest(limit=2)
    rest = library.annotations.find_newest(limit=2, after=first.next)
    assert [one.item_id for one in (*first.annotations, *rest.annotations)] == [items[1].id, items[2].id, items[0].id]
    assert rest.next is None


def test_words_of_quote_and_note_are_found_in_any_case_and_script(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    mark(library, item.id, 1, "The harbour wall of Čapek", "look up the tides")
    mark(library, item.id, 2, "Another wall")
    mark(library, item.id, 3, "港の壁について")
    assert found(library, "WALL") == {"The harbour wall of Čapek", "Another wall"}
    assert found(library, "wall capek") == {"The harbour wall of Čapek"}
    assert found(library, "tides harbour") == {"The harbour wall of Čapek"}
    assert found(library, "harb") == {"The harbour wall of Čapek"}
    assert found(library, "wall harb") == {"The harbour wall of Čapek"}
    assert found(library, "壁") == {"港の壁について"}
    assert found(library, "wall missing") == set()
    assert len(found(library, "  ")) == 3


def test_words_follow_changes_batches_and_deletion(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    marked = mark(library, item.id, 1, "first words")
    library.annotations.put(replace(library.annotations.of_item(item.id)[0], note="a second thought"))
    assert found(library, "second thought") == {"first words"}
    library.annotations.delete(marked, NOW)
    assert found(library, "second") == set()
    imported = Annotation(str(uuid.uuid4()), "", "imported passage", "", "", "", None, NOW, NOW)
    new = NewItem(make_item(9, user_id=library.user_id), None, (imported,))
    library.items.save_many([new], lambda old, _new: old)
    assert found(library, "passage") == {"imported passage"}


def test_a_key_of_another_search_is_refused(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    for number in range(3):
        mark(library, item.id, number)
    key = library.annotations.find("quote", limit=1).next
    with pytest.raises(InvalidQuery):
        library.annotations.find("other", after=key)
