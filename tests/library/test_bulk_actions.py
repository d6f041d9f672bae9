"""One action for any number of items."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep.errors import NotFound
from pagekeep.library.bulk_actions import UNDO, apply_action
from pagekeep.store import Store, open_store
from tests.store.making import make_item


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(str(tmp_path / "library.db"))) as store:
        yield store


@pytest.mark.parametrize(("action", "undoing"), UNDO.items())
def test_every_deed_is_taken_back_by_its_counterpart(shelf: Store, action: str, undoing: str) -> None:
    item = shelf.upsert(make_item(), None)
    if action in ("unpin", "unarchive", "restore"):
        apply_action(shelf, undoing, [item.id])  # type: ignore[arg-type]

    def state() -> tuple[object, ...]:
        now = shelf.get(item.id)
        return bool(now.metadata.pinned), bool(now.metadata.archived), now.deleted_at is None

    before = state()
    apply_action(shelf, action, [item.id])  # type: ignore[arg-type]
    assert state() != before
    apply_action(shelf, undoing, [item.id])  # type: ignore[arg-type]
    assert state() == before


def test_items_that_are_gone_are_passed_over(shelf: Store) -> None:
    kept = shelf.upsert(make_item(), None)
    assert [item.id for item in apply_action(shelf, "pin", ["00000000", kept.id, kept.id])] == [kept.id]
    with pytest.raises(NotFound):
        apply_action(shelf, "pin", ["00000000"])
