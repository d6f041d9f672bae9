"""How far items have been read: devices report their positions, and the user may choose a state.

The newest report wins, whatever order reports arrive in. Opening and scrolling an item makes it one that is being read,
reaching its end makes it read; a state that the user chose stays until the user chooses another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from pagekeep import clock
from pagekeep.library.items import get_item
from pagekeep.model import Item
from pagekeep.model.reading import ReadingState, ReadState
from pagekeep.store import Store
from pagekeep.store.storable import clean_time

_END: Final = 0.98
"""Progress at which the end was reached: the last lines are often a signature."""
_MAX_SHELF: Final = 24


@dataclass(frozen=True, slots=True)
class StartedItem:
    """An item that is being read."""

    item: Item
    reading: ReadingState


def get_reading(store: Store, key: str) -> ReadingState:
    """Return how far an item has been read."""
    return store.reading_state(get_item(store, key).id)


def readings_of(store: Store, items: Iterable[Item]) -> Mapping[str, ReadingState]:
    """Return how far items have been read, by the item's id; those that nothing is known about are left out."""
    return store.reading_states([item.id for item in items])


def report_position(
    store: Store, key: str, progress: float, *, block: int = 0, offset: float = 0.0, at: str | None = None
) -> ReadingState:
    """Store the position that a device reports, and return what is stored then: a newer report of another device stays.

    `at` is the device's time; one in the future counts as now, so that a wrong clock cannot win for ever.
    """
    now = clock.now()
    time = min(clean_time(at), now) if at else now

    def change(old: ReadingState) -> ReadingState:
        if time < old.updated_at:
            return old
        moved = replace(old, progress=progress, block=block, offset=offset, updated_at=time)
        if old.chosen or old.state == "read":
            return moved
        if progress >= _END:
            return replace(moved, state="read", read_at=time)
        return replace(moved, state="reading") if progress > 0 else moved

    return store.change_reading(get_item(store, key).id, change)


def choose_state(store: Store, key: str, state: ReadState) -> ReadingState:
    """Mark an item as unread, being read or read, as the user wants; the position stays."""
    now = clock.now()

    def change(old: ReadingState) -> ReadingState:
        return replace(old, state=state, chosen=True, updated_at=now, read_at=now if state == "read" else None)

    return store.change_reading(get_item(store, key).id, change)


def started_items(store: Store, limit: int = 4) -> tuple[StartedItem, ...]:
    """Return the inbox's items that are being read, those read last first."""
    states = store.items_in_state("reading", min(limit, _MAX_SHELF))
    items = store.items_by_id([state.item_id for state in states])
    return tuple(StartedItem(items[state.item_id], state) for state in states if state.item_id in items)
