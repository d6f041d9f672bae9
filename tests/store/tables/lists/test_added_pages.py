"""Pages that one action adds, and that are taken back with it."""

from __future__ import annotations

import uuid
from dataclasses import replace

from pagekeep.store import Store
from tests.store.making import make_item, moment


def test_pages_that_an_action_adds_go_to_the_trash_by_undo(library: Store) -> None:
    action = str(uuid.uuid4())
    library.actions.add(action, "Saved 2 files of notes", moment(1))
    first, second = (make_item(number, user_id=library.user_id) for number in (1, 2))
    assert library.items.add(first, None, action_id=action) is not None
    assert library.items.add(second, None, action_id=action) is not None
    assert library.items.add(replace(first, id=str(uuid.uuid4())), None, action_id=action) is None
    assert library.actions.get(action).changed == 2
    assert library.actions.undo(action, 10, moment(2)).undone == 2
    assert all(library.items.get(item.id).deleted_at for item in (first, second))


def test_a_page_is_added_also_when_its_action_was_forgotten_meanwhile(library: Store) -> None:
    item = make_item(1, user_id=library.user_id)
    assert library.items.add(item, None, action_id=str(uuid.uuid4())) is not None
    library.actions.record_added(str(uuid.uuid4()), (item.id,))
    assert library.items.get(item.id).deleted_at is None
