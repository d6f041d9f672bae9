"""Versions of a page: added, listed, pinned, limited, and removed with their item."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pagekeep.errors import NotFound
from pagekeep.model import RawPage, Retention
from pagekeep.store import Store
from tests.store.making import NOW, make_item, make_raw, moment

KEEP_ALL = Retention(count=0)


def save(library: Store, number: int, retention: Retention = KEEP_ALL) -> str:
    raw = replace(make_raw(f"<p>Version {number}.</p>".encode()), fetched_at=moment(number))
    item = make_item(user_id=library.user_id, content=f"Version {number}.")
    return library.items.save(item, raw, versions="add", retention=retention).id


def save_all(library: Store, *versions: int) -> str:
    """Save versions one after the other; return the item's id."""
    return {save(library, number) for number in versions}.pop()


def numbers(library: Store, item_id: str) -> list[int]:
    return [snapshot.number for snapshot in library.snapshots.list(item_id)]


def test_an_item_that_never_changed_has_one_version(library: Store) -> None:
    item_id = save(library, 1)
    (only,) = library.snapshots.list(item_id)
    assert (only.number, only.current, only.source, only.size) == (1, True, "web", 17)
    assert library.snapshots.raw(item_id, 1) == library.items.raw(item_id)


def test_versions_are_numbered_and_the_last_is_the_current_one(library: Store) -> None:
    item_id = save_all(library, 1, 2, 3)
    listed = library.snapshots.list(item_id)
    assert [(one.number, one.current, one.fetched_at) for one in listed] == [
        (1, False, moment(1)),
        (2, False, moment(2)),
        (3, True, moment(3)),
    ]
    bodies = [library.snapshots.raw(item_id, number).body for number in (1, 2, 3)]
    assert bodies == [b"<p>Version 1.</p>", b"<p>Version 2.</p>", b"<p>Version 3.</p>"]
    assert library.items.raw(item_id) == library.snapshots.raw(item_id, 3)
    assert library.check() == []


def test_a_version_that_does_not_exist_is_not_found(library: Store) -> None:
    item_id = save(library, 1)
    for number in (0, 2):
        with pytest.raises(NotFound):
            library.snapshots.raw(item_id, number)
        with pytest.raises(NotFound):
            library.snapshots.pin(item_id, number, True)


def test_only_the_newest_versions_stay_and_pinned_ones(library: Store) -> None:
    item_id = save(library, 1)
    assert library.snapshots.pin(item_id, 1, True).pinned
    for number in range(2, 7):
        save(library, number, Retention(count=3))
    assert numbers(library, item_id) == [1, 4, 5, 6]
    assert library.counts.totals()["raw_pages"] == 4
    library.snapshots.pin(item_id, 1, False)
    save(library, 7, Retention(count=3))
    assert numbers(library, item_id) == [5, 6, 7]
    assert library.check() == []


def test_old_versions_go_and_the_current_one_stays_whatever_its_age(library: Store) -> None:
    item_id = save_all(library, 1, 2, 3)
    save(library, 4, Retention(count=0, since=moment(3)))
    assert numbers(library, item_id) == [3, 4]
    save(library, 5, Retention(count=0, since=moment(60)))
    assert numbers(library, item_id) == [5]


def test_the_same_content_again_keeps_the_stored_page_and_takes_the_new_validators(library: Store) -> None:
    item_id = save(library, 1)
    stored = library.items.raw(item_id)
    fetched = RawPage(
        b"<p>Version 1.</p><!-- 77 -->", "utf-8", "text/html", "https://example.com/page", 200, False, NOW
    )
    item = make_item(user_id=library.user_id, content="Version 1.")
    library.items.save(item, replace(fetched, etag='"77"'), versions="keep")
    assert stored is not None
    assert library.items.raw(item_id) == replace(stored, etag='"77"')
    assert library.counts.totals()["raw_pages"] == 1


def test_a_page_that_comes_back_to_an_earlier_content_is_stored_once(library: Store) -> None:
    item_id = save_all(library, 1, 2, 1)
    assert numbers(library, item_id) == [1, 2, 3]
    assert library.counts.totals()["raw_pages"] == 2


def test_a_removed_item_takes_its_versions_and_schedules_with_it(library: Store) -> None:
    item_id = save_all(library, 1, 2, 3)
    library.schedules.put("watch", item_id, "https://example.com/", 3600, NOW, NOW)
    library.items.delete(item_id, NOW)
    library.items.purge()
    assert library.snapshots.list(item_id) == ()
    assert library.schedules.list("watch") == ()
    assert library.counts.totals()["raw_pages"] == 0
    assert library.check() == []
