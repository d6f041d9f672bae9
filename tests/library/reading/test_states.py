"""How far items have been read: reports of devices, and what the user chose."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekeep import clock
from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library.items.reading import choose_state, get_reading, report_position, started_items
from pagekeep.store import Store, open_store
from tests.store.making import make_item


@pytest.fixture
def library(tmp_path: Path) -> Store:
    return open_store(tmp_path / "library.db")


@pytest.fixture
def item_id(library: Store) -> str:
    return library.items.save(make_item(user_id=library.user_id), None).id


def test_scrolling_and_reaching_the_end_change_the_state(library: Store, item_id: str) -> None:
    assert report_position(library, item_id, 0.0).state == "unread"
    assert report_position(library, item_id, 0.3, block=4, offset=0.5).state == "reading"
    assert [started.item.id for started in started_items(library)] == [item_id]
    read = report_position(library, item_id, 1.0)
    assert (read.state, read.read_at) == ("read", read.updated_at)
    again = report_position(library, item_id, 0.1)
    assert (again.state, again.progress) == ("read", 0.1)
    assert started_items(library) == ()


@pytest.mark.parametrize("state", ["unread", "reading", "read"])
def test_what_the_user_chose_stays(library: Store, item_id: str, state: str) -> None:
    choose_state(library, item_id, state)  # type: ignore[arg-type]
    for progress in (0.4, 1.0, 0.0):
        assert report_position(library, item_id, progress).state == state
    assert choose_state(library, item_id, "read").state == "read"
    unread = choose_state(library, item_id, "unread")
    assert (unread.state, unread.read_at) == ("unread", None)


def test_the_newest_report_wins_in_whatever_order_they_arrive(library: Store, item_id: str) -> None:
    now = clock.now()
    report_position(library, item_id, 0.6, block=9, at=now)
    late = report_position(library, item_id, 0.2, block=2, at=clock.add_seconds(now, -60))
    assert (late.progress, late.block) == (0.6, 9)
    future = report_position(library, item_id, 0.7, at=clock.add_seconds(now, 86_400))
    assert future.updated_at < clock.add_seconds(now, 3_600)
    assert report_position(library, item_id, 0.8).progress == 0.8


def test_what_is_not_a_time_or_an_item_is_refused(library: Store, item_id: str) -> None:
    with pytest.raises(InvalidQuery):
        report_position(library, item_id, 0.5, at="yesterday")
    with pytest.raises(NotFound):
        get_reading(library, "0d9c2f6e-8f0b-4c39-9b43-6f0a5a3f7d11")
