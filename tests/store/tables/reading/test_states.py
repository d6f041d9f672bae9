"""How far items have been read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pagekeep.errors import NotFound
from pagekeep.model import NewItem
from pagekeep.model.reading import ReadingState
from pagekeep.store import Store
from tests.store.conftest import Opener
from tests.store.making import NOW, make_item, moment


def test_an_item_begins_unread_and_keeps_what_is_reported(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    assert library.reading.get(item.id) == ReadingState(item.id)
    state = ReadingState(item.id, "reading", False, 0.25, 7, 0.5, NOW)
    assert library.reading.change(item.id, lambda old: state) == state
    assert library.reading.get(item.id) == state
    assert library.reading.get_many([item.id, "none"]) == {item.id: state}
    read = library.reading.change(item.id, lambda old: replace(old, state="read", chosen=True, read_at=moment(5)))
    assert (read.state, read.chosen, read.progress, read.read_at) == ("read", True, 0.25, moment(5))


def test_values_out_of_range_are_stored_within(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    state = library.reading.change(item.id, lambda old: ReadingState(item.id, "reading", False, 7.0, -3, -1.0, NOW))
    assert (state.progress, state.block, state.offset) == (1.0, 0, 0.0)


def test_items_being_read_are_those_in_the_inbox(library: Store, opened: Opener) -> None:
    ids = []
    for number in range(4):
        item = library.items.save(make_item(number, user_id=library.user_id), None)
        time = moment(number)
        library.reading.change(item.id, lambda old, time=time: replace(old, state="reading", updated_at=time))
        ids.append(item.id)
    library.items.set_metadata(ids[1], NOW, archived=True)
    library.items.delete(ids[3], NOW)
    assert [state.item_id for state in library.reading.in_state("reading", 10)] == [ids[2], ids[0]]
    assert opened("stranger").reading.in_state("reading", 10) == ()


def test_another_user_reads_no_item_of_mine(library: Store, opened: Opener) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    library.reading.change(item.id, lambda old: replace(old, state="read", updated_at=NOW))
    stranger = opened("stranger")
    assert stranger.reading.get(item.id).state == "unread"
    with pytest.raises(NotFound):
        stranger.reading.change(item.id, lambda old: replace(old, state="read", updated_at=NOW))


def test_a_purged_item_takes_its_reading_state_along(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id), None)
    library.reading.change(item.id, lambda old: replace(old, state="read", updated_at=NOW))
    library.items.delete(item.id, NOW)
    library.items.purge([item.id])
    assert library.reading.get_many([item.id]) == {}


def test_an_import_brings_states_unless_a_newer_one_is_there(library: Store) -> None:
    new = make_item(user_id=library.user_id)
    state = ReadingState("", "reading", False, 0.5, 3, 0.0, moment(5))
    ((item, _),) = library.items.save_many([NewItem(new, reading=state)], lambda old, _new: old)
    assert library.reading.get(item.id) == replace(state, item_id=item.id)
    for time, progress in ((moment(3), 0.5), (moment(9), 0.9)):
        other = replace(state, progress=0.9, updated_at=time)
        library.items.save_many([NewItem(new, reading=other)], lambda old, _new: old)
        assert library.reading.get(item.id).progress == progress
