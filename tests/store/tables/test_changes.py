"""Changes of watched pages, stored with their version in one step; and checks of addresses."""

from __future__ import annotations

import uuid

import pytest

from pagekeep.errors import NotFound
from pagekeep.model import Change, PageCheck, Retention
from pagekeep.store import Store, parse_query
from tests.store.making import NOW, make_item, make_raw, moment


def record(library: Store, number: int, item_id: str, **how: str) -> Change:
    schedule = library.schedules.put("watch", item_id, "https://example.com/page/0", 3600, NOW, NOW)
    change = Change(str(uuid.uuid4()), item_id, number - 1, 0, 5, 3, f"words {number}", moment(number))
    item = make_item(user_id=library.user_id, content=f"Version {number}.")
    recorded = library.changes.add(
        schedule.id, {"seen": number}, item, make_raw(b"%d" % number), change, retention=Retention(), **how
    )
    assert recorded is not None
    return recorded


def test_a_change_comes_with_its_version_and_what_the_schedule_remembers(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id, content="Version 1."), make_raw(b"1"))
    change = record(library, 2, item.id, deliver="webhook")
    assert (change.before, change.after) == (1, 2)
    assert library.changes.list() == (change,)
    assert library.changes.get(change.id) == change
    assert library.items.get(item.id).content == "Version 2."
    assert [snapshot.number for snapshot in library.snapshots.list(item.id)] == [1, 2]
    schedule = library.schedules.get("watch", item.id)
    assert schedule is not None
    assert schedule.state == {"seen": 2}
    (job,) = library.jobs.list()
    assert job.options == {"task": "webhook", "change": change.id}


def test_of_two_processes_that_saw_the_same_change_one_stores_it(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), make_raw(b"1"))
    record(library, 2, item.id)
    schedule = library.schedules.put("watch", item.id, "https://example.com/page/0", 3600, NOW, NOW)
    late = Change(str(uuid.uuid4()), item.id, 1, 0, 5, 3, "words", NOW)
    newer = make_item(user_id=library.user_id, content="Version 2, with another advertisement.")
    assert library.changes.add(schedule.id, {}, newer, make_raw(b"2b"), late, retention=Retention()) is None
    assert len(library.changes.list()) == 1
    assert library.items.get(item.id).content == "Version 2."


def test_changes_are_listed_newest_first_until_they_are_seen(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), make_raw(b"1"))
    first, second = (record(library, number, item.id) for number in (2, 3))
    assert library.changes.list(unseen=True) == (second, first)
    assert library.changes.mark_seen([first.id], NOW) == 1
    assert library.changes.list(unseen=True) == (second,)
    assert len(library.changes.list(item_id=item.id)) == 2
    assert library.changes.mark_seen(None, NOW) == 1
    assert library.changes.list(unseen=True) == ()
    with pytest.raises(NotFound):
        library.changes.get(str(uuid.uuid4()))
    library.items.delete(item.id, NOW)
    assert library.changes.list() == ()


def test_the_text_of_an_edited_item_stays_and_the_version_is_added(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id, content="Mine.", edited=True), make_raw(b"1"))
    schedule = library.schedules.put("watch", item.id, "https://example.com/page/0", 3600, NOW, NOW)
    change = Change(str(uuid.uuid4()), item.id, 1, 0, 5, 3, "words", NOW)
    library.changes.add(schedule.id, {}, item, make_raw(b"2"), change, retention=Retention())
    assert library.items.get(item.id).content == "Mine."
    assert library.snapshots.raw(item.id, 2).body == b"2"


def test_the_last_check_of_an_address_is_stored_once_per_item(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id, saved_at=moment(0)), make_raw())
    assert library.changes.get_check(item.id) is None
    assert library.changes.due_checks(moment(5), moment(1), 10) == (item.id,)
    check = PageCheck(item.id, moment(5), moment(9), "gone", 1, moment(5), "No such page.")
    library.changes.put_check(check)
    library.changes.put_check(check)
    assert library.changes.get_check(item.id) == check
    assert library.changes.due_checks(moment(8), moment(1), 10) == ()
    assert library.changes.due_checks(moment(9), moment(1), 10) == (item.id,)
    library.changes.put_check(PageCheck(str(uuid.uuid4()), moment(5), moment(9), "ok"))
    assert library.check() == []


def test_pages_that_have_gone_are_found(library: Store) -> None:
    gone, blocked, fine = (library.items.save(make_item(n, user_id=library.user_id), make_raw()) for n in range(3))
    library.items.set_metadata(gone.id, NOW, link={"state": "gone", "reason": "No such page."})
    library.items.set_metadata(blocked.id, NOW, link={"state": "blocked", "reason": "A bot wall."})
    assert [item.id for item in library.search.find(parse_query("is:gone")).items] == [gone.id]
    assert {item.id for item in library.search.find(parse_query("-is:gone")).items} == {blocked.id, fine.id}
