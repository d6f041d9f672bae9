"""Changes of one item and of several, each one transaction that can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.errors import NotFound, Outdated
from pagekeep.library.items.change import MOVES, Move, change_item, change_selected, undo_action
from pagekeep.library.items.find import open_item
from pagekeep.model.lists import ItemChange
from pagekeep.store import Store, open_store
from tests.store.making import make_item


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(str(tmp_path / "library.db"))) as opened:
        yield opened


@pytest.mark.parametrize(
    ("move", "opposite"),
    [
        *(("pin", "unpin"), ("archive", "unarchive"), ("delete", "restore")),
        *(("unpin", "pin"), ("unarchive", "archive"), ("restore", "delete")),
    ],
)
def test_every_move_is_undone(store: Store, move: Move, opposite: Move) -> None:
    item = store.items.save(make_item(), None)
    change_item(store, item.id, MOVES[opposite])

    def state() -> tuple[object, ...]:
        now = store.items.get(item.id)
        return bool(now.metadata.pinned), bool(now.metadata.archived), now.deleted_at is None

    before = state()
    done = change_selected(store, [item.id], MOVES[move], "Moved")
    assert state() != before
    undo_action(store, done.action.id)
    assert state() == before


def test_items_that_do_not_exist_are_skipped(store: Store) -> None:
    kept = store.items.save(make_item(), None)
    nothing = ["00000000-0000-0000-0000-000000000001"] * 150  # more than one batch
    done = change_selected(store, [*nothing, kept.id, kept.id], MOVES["pin"], "Pinned")
    assert [item.id for item in done.items] == [kept.id]
    assert done.action.changed == 1
    with pytest.raises(NotFound):
        change_selected(store, nothing, MOVES["pin"], "Pinned")
    assert len(store.actions.list()) == 1


def test_opening_an_item_marks_it_as_opened(store: Store) -> None:
    item = store.items.save(make_item(), None)
    assert item.last_opened_at is None
    assert open_item(store, item.id).last_opened_at is not None
    assert store.items.get(item.id).last_opened_at is not None
    assert store.actions.list() == ()


def test_tags_are_added_and_removed_and_the_others_stay(store: Store) -> None:
    item = store.items.save(make_item(tags=["harbour", "History", "sea"]), None)
    change = ItemChange(add_tags=("#new\x1b", "harbour"), remove_tags=("HISTORY",))
    assert change_item(store, item.id, change).metadata.tags == ("harbour", "sea", "new")


@pytest.mark.parametrize(
    ("tags", "change", "expected"),
    [
        (["Energy"], ItemChange(add_tags=("energy", "ENERGY")), ("Energy",)),
        (["café"], ItemChange(remove_tags=("cafe",)), ()),
        (["cafe"], ItemChange(remove_tags=("CAFÉ",)), ()),
        (["cafe"], ItemChange(add_tags=("café",)), ("cafe",)),
        (["straße"], ItemChange(add_tags=("STRASSE",)), ("straße",)),
        ([], ItemChange(tags=("Sea", "sea", "SÉA", "tide")), ("Sea", "tide")),
        (["Energy", "energy"], ItemChange(pinned=True), ("Energy",)),
    ],
)
def test_spellings_of_one_tag_are_one_tag(
    store: Store, tags: list[str], change: ItemChange, expected: tuple[str, ...]
) -> None:
    item = store.items.save(make_item(tags=tags), None)
    assert change_item(store, item.id, change).metadata.tags == expected
    assert store.items.get(item.id).metadata.tags == expected
    assert store.counts.get(["tag"])["tag"] == dict.fromkeys([tag.casefold().replace("é", "e") for tag in expected], 1)


def test_a_change_of_nothing_leaves_the_item_as_it_is(store: Store) -> None:
    item = store.items.save(make_item(tags=["sea"]), None)
    assert change_item(store, item.id, ItemChange(add_tags=("Sea",))) == item
    assert change_item(store, item.id, ItemChange()) == item
    assert store.items.get(item.id) == item
    assert [action.changed for action in store.actions.list()] == [0]


def test_notes_are_set_removed_and_come_back(store: Store) -> None:
    item = store.items.save(make_item(), None)
    assert change_item(store, item.id, ItemChange(notes="Mine")).metadata.notes == "Mine"
    done = change_selected(store, [item.id], ItemChange(notes=""), "Removed")
    assert done.items[0].metadata.notes is None
    undo_action(store, done.action.id)
    assert store.items.get(item.id).metadata.notes == "Mine"


def test_a_change_of_what_was_changed_in_the_meantime_is_refused_whole(store: Store) -> None:
    item = store.items.save(make_item(), None)
    change_item(store, item.id, MOVES["pin"])
    with pytest.raises(Outdated):
        change_item(store, item.id, ItemChange(add_tags=("sea",)), unchanged_since=item.updated_at)
    assert store.items.get(item.id).metadata.tags == ()
    assert len(store.actions.list()) == 1
