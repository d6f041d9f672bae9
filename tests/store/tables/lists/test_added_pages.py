"""Pages that one action adds, and that are taken back with it."""

from __future__ import annotations

import uuid
from dataclasses import replace

from pagekeep.store import Store
from tests.store.making import make_item, moment


def test_pages_that_an_action_adds_go_to_the_trash_by_undo(library: Store) -> None:
    action = str(uuid.uuid4())
    library.add_action(action, "Saved 2 files of notes", moment(1))
    first, second = (make_item(number, user_id=library.user_id) for number in (1, 2))
    assert library.add_page_for(action, first, None) is not None
    assert library.add_page_for(action, second, None) is not None
    assert library.add_page_for(action, replace(first, id=str(uuid.uuid4())), None) is None
    assert library.action(action).changed == 2
    assert library.undo_items(action, 10, moment(2)).undone == 2
    assert all(library.get(item.id).deleted_at for item in (first, second))


def test_a_page_is_added_also_when_its_action_was_forgotten_meanwhile(library: Store) -> None:
    item = make_item(1, user_id=library.user_id)
    assert library.add_page_for(str(uuid.uuid4()), item, None) is not None
    library.record_added(str(uuid.uuid4()), (item.id,))
    assert library.get(item.id).deleted_at is None
