"""Annotations on items: highlights and notes."""

from __future__ import annotations

import uuid
from dataclasses import replace

from pagekeep import clock
from pagekeep.errors import NotFound
from pagekeep.library.items import get_item
from pagekeep.model import Annotation
from pagekeep.store import Store


def annotate(
    store: Store, key: str, quote: str, *, before: str = "", after: str = "", note: str = "", colour: str | None = None
) -> Annotation:
    """Highlight a quote of the item, or with an empty quote add a note on the whole page."""
    now = clock.now()
    item_id = get_item(store, key).id
    return store.annotate(Annotation(str(uuid.uuid4()), item_id, quote, before, after, note, colour, now, now))


def get_annotations(store: Store, key: str) -> tuple[Annotation, ...]:
    """Return the annotations of an item, oldest first."""
    return store.annotations(get_item(store, key).id)


def edit_annotation(
    store: Store, key: str, annotation_id: str, *, note: str | None = None, colour: str | None = None
) -> Annotation:
    """Change note or colour; `None` leaves it as it is."""
    old = _get(store, key, annotation_id)
    note, colour = old.note if note is None else note, old.colour if colour is None else colour
    return store.annotate(replace(old, note=note, colour=colour, updated_at=clock.now()))


def remove_annotation(store: Store, key: str, annotation_id: str) -> None:
    """Delete an annotation."""
    store.delete_annotation(_get(store, key, annotation_id).id)


def _get(store: Store, key: str, annotation_id: str) -> Annotation:
    for annotation in get_annotations(store, key):
        if annotation.id == annotation_id:
            return annotation
    raise NotFound("There is no such annotation.")
