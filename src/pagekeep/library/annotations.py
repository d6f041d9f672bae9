"""Annotations on items: highlights and notes."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from pagekeep import clock
from pagekeep.errors import NotFound
from pagekeep.library.items import MAX_NUMBER, get_item
from pagekeep.model import Annotation, Item
from pagekeep.store import Store

_HALF: Final = MAX_NUMBER + 1
_REST_OF_ID: Final = "-0000-0000-0000-000000000000", "-ffff-ffff-ffff-ffffffffffff"


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
    store.delete_annotation(_get(store, key, annotation_id).id, clock.now())


def _get(store: Store, key: str, annotation_id: str) -> Annotation:
    for annotation in get_annotations(store, key):
        if annotation.id == annotation_id:
            return annotation
    raise NotFound("There is no such annotation.")


def annotations_of(store: Store, items: Iterable[Item]) -> Mapping[str, tuple[Annotation, ...]]:
    """Return the annotations of several items by the item's id, oldest first."""
    return store.annotations_of([item.id for item in items])


def annotation_number(annotation: Annotation) -> int:
    """Return the number of an annotation: the first 31 bits of its id that are not the first one."""
    return int(annotation.id[:8], 16) & MAX_NUMBER


def get_numbered_annotation(store: Store, number: int) -> Annotation:
    """Return the annotation with this number; `NotFound` unless there is exactly one."""
    found: list[Annotation] = []
    for begin in (number, number | _HALF) if 0 <= number <= MAX_NUMBER else ():
        low, high = (f"{begin:08x}{rest}" for rest in _REST_OF_ID)
        found += store.annotations_between(low, high)
    if len(found) != 1:
        raise NotFound(f"There is no annotation with the number {number}.")
    return found[0]
