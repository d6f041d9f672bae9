"""Changes of watched pages, stored with their version in one step; and checks of addresses."""

from __future__ import annotations

import uuid

import pytest

from pagekeep.errors import NotFound
from pagekeep.model import Change, PageCheck, Retention
from pagekeep.store import Store, parse_query
from tests.store.making import NOW, make_item, make_raw, moment


def record(library: Store, number: int, item_id: str, **how: str) -> Change:
    schedule = library.set_schedule("watch", item_id, "https://example.com/page/0", 3600, NOW, NOW)
    change = Change(str(uuid.uuid4()), item_id, number - 1, 0, 5, 3, f"words {number}", moment(number))
    item = make_item(user_id=library.user_id, content=f"Version {number}.")
    recorded = library.record_change(
        schedule.id, {"seen": number}, item, make_raw(b"%d" % number), change, retention=Retention(), **how
    )
    assert recorded is not None
    return recorded


def test_a_change_comes_with_its_version_and_what_the_schedule_remembers(library: Store) -> None:
    item = library.upsert(make_item(user_id=library.user_id, content="Version 1."), make_raw(b"1"))
    change = record(library, 2, item.id, deliver="webhook")
    assert (change.before, change.after) == (1, 2)
    assert library.changes() == (change,)
    assert library.change(change.id) == change
    assert library.get(item.id).content == "Version 2."
    assert [snapshot.number for snapshot in library.snapshots(item.id)] == [1, 2]
    schedule = library.schedule("watch", item.id)
    assert schedule is not None
    assert schedule.state == {"seen": 2}
    (job,) = library.jobs()
    assert job.options == {"task": "webhook", "change": change.id}


def test_of_two_processes_that_saw_the_same_change_one_stores_it(library: Store) -> None:
    item = library.upsert(make_item(user_id=library.user_id), make_raw(b"1"))
    record(library, 2, item.id)
    schedule = library.set_schedule("watch", item.id, "https://example.com/page/0", 3600, NOW, NOW)
    late = Change(str(uuid.uuid4()), item.id, 1, 0, 5, 3, "words", NOW)
    newer = make_item(user_id=library.user_id, content="Version 2, with another advertisement.")
    assert library.record_change(schedule.id, {}, newer, make_raw(b"2b"), late, retention=Retention()) is None
    assert len(library.changes()) == 1
    assert library.get(item.id).content == "Version 2."


def test_changes_are_listed_newest_first_until_they_are_seen(library: Store) -> None:
    item = library.upsert(make_item(user_id=library.user_id), make_raw(b"1"))
    first, second = (record(library, number, item.id) for number in (2, 3))
    assert library.changes(unseen=True) == (second, first)
    assert library.mark_seen([first.id], NOW) == 1
    assert library.changes(unseen=True) == (second,)
    assert len(library.changes(item_id=item.id)) == 2
    assert library.mark_seen(None, NOW) == 1
    assert library.changes(unseen=True) == ()
    with pytest.raises(NotFound):
        library.change(str(uuid.uuid4()))
    library.delete(item.id, NOW)
    assert library.changes() == ()


def test_the_text_of_an_edited_item_stays_and_the_version_is_added(library: Store) -> None:
    item = library.upsert(make_item(user_id=library.user_id, content="Mine.", edited=True), make_raw(b"1"))
    schedule = library.set_schedule("watch", item.id, "https://example.com/page/0", 3600, NOW, NOW)
    change = Change(str(uuid.uuid4()), item.id, 1, 0, 5, 3, "words", NOW)
    library.record_change(schedule.id, {}, item, make_raw(b"2"), change, retention=Retention())
    assert library.get(item.id).content == "Mine."
    assert library.snapshot_raw(item.id, 2).body == b"2"


def test_the_last_check_of_an_address_is_stored_once_per_item(library: Store) -> None:
    item = library.upsert(make_item(user_id=library.user_id, saved_at=moment(0)), make_raw())
    assert library.page_check(item.id) is None
    assert library.due_checks(moment(5), moment(1), 10) == (item.id,)
    check = PageCheck(item.id, moment(5), moment(9), "gone", 1, moment(5), "No such page.")
    library.put_check(check)
    library.put_check(check)
    assert library.page_check(item.id) == check
    assert library.due_checks(moment(8), moment(1), 10) == ()
    assert library.due_checks(moment(9), moment(1), 10) == (item.id,)
    library.put_check(PageCheck(str(uuid.uuid4()), moment(5), moment(9), "ok"))
    assert library.check() == []


def test_pages_that_have_gone_are_found(library: Store) -> None:
    gone, blocked, fine = (library.upsert(make_item(n, user_id=library.user_id), make_raw()) for n in range(3))
    library.set_metadata(gone.id, NOW, link={"state": "gone", "reason": "No such page."})
    library.set_metadata(blocked.id, NOW, link={"state": "blocked", "reason": "A bot wall."})
    assert [item.id for item in library.find(parse_query("is:gone")).items] == [gone.id]
    assert {item.id for item in library.find(parse_query("-is:gone")).items} == {blocked.id, fine.id}
