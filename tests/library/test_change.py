"""Actions on one item and on many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.errors import NotFound
from pagekeep.library.change import UNDO, apply_to_many, change_item, tag_item
from pagekeep.store import Store, open_store
from tests.store.making import make_item


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(str(tmp_path / "library.db"))) as opened:
        yield opened


@pytest.mark.parametrize(("action", "undoing"), UNDO.items())
def test_every_action_is_undone_by_its_counterpart(store: Store, action: str, undoing: str) -> None:
    item = store.upsert(make_item(), None)
    if action in ("unpin", "unarchive", "restore"):
        apply_to_many(store, undoing, [item.id])  # type: ignore[arg-type]

    def state() -> tuple[object, ...]:
        now = store.get(item.id)
        return bool(now.metadata.pinned), bool(now.metadata.archived), now.deleted_at is None

    before = state()
    apply_to_many(store, action, [item.id])  # type: ignore[arg-type]
    assert state() != before
    apply_to_many(store, undoing, [item.id])  # type: ignore[arg-type]
    assert state() == before


def test_items_that_do_not_exist_are_skipped(store: Store) -> None:
    kept = store.upsert(make_item(), None)
    assert [item.id for item in apply_to_many(store, "pin", ["00000000", kept.id, kept.id])] == [kept.id]
    with pytest.raises(NotFound):
        apply_to_many(store, "pin", ["00000000"])


def test_opening_an_item_marks_it_as_opened(store: Store) -> None:
    item = store.upsert(make_item(), None)
    assert item.last_opened_at is None
    assert apply_to_many(store, "opened", [item.id])[0].last_opened_at is not None
    assert store.get(item.id).last_opened_at is not None


def test_tags_are_added_and_removed_and_the_others_stay(store: Store) -> None:
    item = store.upsert(make_item(tags=["harbour", "History", "sea"]), None)
    tagged = tag_item(store, item.id, add=["#new\x1b", "harbour"], remove=["HISTORY"])
    assert tagged.metadata.tags == ("harbour", "sea", "new")


def test_a_change_of_nothing_leaves_the_item_as_it_is(store: Store) -> None:
    item = store.upsert(make_item(tags=["sea"]), None)
    assert change_item(store, item, add=["sea"]) == item
    assert store.get(item.id) == item
