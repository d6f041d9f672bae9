"""Passages that a reader marks in an item."""

from __future__ import annotations

import uuid
from dataclasses import replace

from pagekeep import clock
from pagekeep.errors import NotFound
from pagekeep.library.items import find
from pagekeep.model import Annotation
from pagekeep.store import Store


def mark(
    store: Store, key: str, quote: str, *, before: str = "", after: str = "", note: str = "", colour: str | None = None
) -> Annotation:
    """Mark a passage, or with an empty quote write a note on the whole page."""
    now = clock.now()
    made = Annotation(str(uuid.uuid4()), find(store, key).id, quote, before, after, note, colour, now, now)
    return store.annotate(made)


def marks(store: Store, key: str) -> tuple[Annotation, ...]:
    """Those of an item, oldest first."""
    return store.annotations(find(store, key).id)


def change_mark(
    store: Store, key: str, mark_id: str, *, note: str | None = None, colour: str | None = None
) -> Annotation:
    """Another note or colour; `None` leaves it as it is."""
    old = _found(store, key, mark_id)
    note, colour = old.note if note is None else note, old.colour if colour is None else colour
    return store.annotate(replace(old, note=note, colour=colour, updated_at=clock.now()))


def unmark(store: Store, key: str, mark_id: str) -> None:
    """Take a mark off."""
    store.drop_annotation(_found(store, key, mark_id).id)


def _found(store: Store, key: str, mark_id: str) -> Annotation:
    found = next((one for one in marks(store, key) if one.id == mark_id), None)
    if found is None:
        raise NotFound("There is no such annotation.")
    return found
