from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from pagekeep.errors import StoreError
from pagekeep.model import Annotation, Item, ItemQuery, NewItem, item_filters
from pagekeep.store import Store, parse_query
from tests.store.conftest import Opener
from tests.store.making import NOW, make_item, make_raw, moment

LATER = moment(700)


def newer(_old: Item, new: Item) -> Item:
    """The new one under the old one's id."""
    return replace(new, id=_old.id)


def keep(old: Item, _new: Item) -> Item:
    return old


def entries(library: Store, *numbers: int, **how: str) -> list[NewItem]:
    return [NewItem(make_item(number, user_id=library.user_id, **how)) for number in numbers]


def mark(number: int, note: str = "") -> Annotation:
    return Annotation(str(uuid.UUID(int=number)), "", f"words {number}", "", "", note, None, NOW, NOW)


def test_many_pages_are_put_in_and_found(library: Store) -> None:
    wanted = [
        NewItem(make_item(number, user_id=library.user_id, title=f"Page {number}", tags=["Sea"]))
        for number in range(703)
    ]
    stored = library.items.save_many(wanted, keep)
    assert [outcome for _, outcome in stored] == ["added"] * 703
    assert library.items.get(wanted[600].item.id) == wanted[600].item == stored[600][0]
    assert [hit.item.title for hit in library.search.find(parse_query("702")).hits] == ["Page 702"]
    assert (
        len(library.search.find(ItemQuery(filters=item_filters(tags=("sea",), archived=False), limit=2_000)).items)
        == 703
    )
    assert library.check() == []


def test_a_page_that_is_there_becomes_what_the_merge_says(library: Store) -> None:
    old = library.items.save(make_item(1, user_id=library.user_id, title="Old harbour", tags=["a"]), make_raw(b"old"))
    new = make_item(1, user_id=library.user_id, title="New quay", content="Other words.", tags=["b"])
    ((stored, outcome),) = library.items.save_many([NewItem(new, make_raw(b"new"))], newer)
    assert outcome == "updated"
    assert stored == library.items.get(old.id) == replace(new, id=old.id)
    raw = library.items.raw(old.id)
    assert raw is not None
    assert raw.body == b"new"
    assert not library.search.find(parse_query("harbour")).hits
    assert [hit.item.id for hit in library.search.find(parse_query("quay tag:b")).hits] == [old.id]
    assert library.check() == []


def test_a_merge_that_changes_nothing_leaves_the_page_and_its_raw_page_alone(library: Store) -> None:
    old = library.items.save(make_item(1, user_id=library.user_id), make_raw(b"old"))
    ((stored, outcome),) = library.items.save_many(
        [NewItem(make_item(1, user_id=library.user_id, content="x"), make_raw(b"new"))], keep
    )
    assert (stored, outcome) == (old, "unchanged")
    raw = library.items.raw(old.id)
    assert raw is not None
    assert raw.body == b"old"


def test_a_page_that_comes_twice_in_a_batch_is_merged_with_itself(library: Store) -> None:
    both = [*entries(library, 1, title="First"), *entries(library, 1, title="Second")]
    (first, one), (second, two) = library.items.save_many(both, newer)
    assert (one, two) == ("added", "updated")
    assert first == second == library.items.by_url(both[0].item.url)
    assert first.title == "Second"


def test_an_id_that_is_another_pages_is_replaced(library: Store) -> None:
    there = library.items.save(make_item(1, user_id=library.user_id), None)
    new = [replace(entry, item=replace(entry.item, id=there.id)) for entry in entries(library, 2, 3)]
    stored = library.items.save_many(new, keep)
    assert len({there.id, *(item.id for item, _ in stored)}) == 3
    assert library.items.get(there.id) == there


def test_annotations_come_with_their_page_and_once(library: Store) -> None:
    wanted = [replace(entry, annotations=(mark(1), mark(2, "mine"))) for entry in entries(library, 1)]
    ((stored, _),) = library.items.save_many(wanted, keep)
    library.annotations.put(replace(mark(1, "changed since"), item_id=stored.id))
    library.items.save_many(wanted, keep)
    assert [(found.quote, found.note) for found in library.annotations.of_item(stored.id)] == [
        ("words 1", "changed since"),
        ("words 2", "mine"),
    ]


def test_a_batch_with_another_users_page_is_refused_whole(library: Store) -> None:
    with pytest.raises(StoreError, match="another user"):
        library.items.save_many([*entries(library, 1), NewItem(make_item(2, user_id="someone else"))], keep)
    assert library.search.find(ItemQuery(filters=item_filters(archived=False))).items == ()


def test_no_raw_page_is_kept_where_none_is_wanted(opened: Opener) -> None:
    library = opened(keep_raw=False)
    ((stored, _),) = library.items.save_many([NewItem(make_item(1, user_id=library.user_id), make_raw())], keep)
    assert library.items.raw(stored.id) is None


def test_pages_that_wait_already_are_not_queued_again(library: Store) -> None:
    first = library.jobs.add("https://example.com/1", "https://example.com/1", {}, NOW)
    pairs = [(f"https://example.com/{number}", f"https://example.com/{number}#x") for number in (1, 2, 3, 3)]
    assert library.jobs.add_many(pairs, {"tags": ["a"]}, LATER) == 2
    assert library.jobs.add_many(pairs, {}, LATER) == 0
    jobs = library.jobs.list()
    assert len(jobs) == 3
    assert first in jobs
    assert {job.url_full for job in jobs if job != first} == {"https://example.com/2#x", "https://example.com/3#x"}


def test_pages_that_were_given_up_are_not_queued_again(library: Store) -> None:
    dead = library.jobs.add("https://example.com/1", "https://example.com/1", {}, NOW)
    assert library.jobs.lease("worker", LATER, LATER) is not None
    library.jobs.fail(dead.id, "worker", {}, retry_at=None)
    pairs = [(f"https://example.com/{number}", f"https://example.com/{number}") for number in (1, 2)]
    assert library.jobs.add_many(pairs, {}, LATER) == 1
    assert [job.id for job in library.jobs.list("dead")] == [dead.id]
    assert [job.url for job in library.jobs.list("queued")] == ["https://example.com/2"]
