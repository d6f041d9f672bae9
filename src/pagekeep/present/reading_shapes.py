"""JSON shapes about reading: annotations with their items, and how far items have been read."""

from __future__ import annotations

from typing import cast

from typing_extensions import TypedDict

from pagekeep import model
from pagekeep.model.reading import ReadingState, ReadState
from pagekeep.present.json_shapes import Annotation, annotation_shape


class AnnotatedItem(TypedDict):
    """The item that an annotation is on."""

    id: str
    title: str
    url: str
    author: str | None
    domain: str


class FoundAnnotation(Annotation):
    """An annotation and its item."""

    item: AnnotatedItem


class Reading(TypedDict):
    """How far an item has been read, and where to go on."""

    item_id: str
    state: ReadState
    chosen: bool
    """Whether the user chose the state; reading on then does not change it."""
    progress: float
    """From 0 to 1."""
    block: int
    """The paragraph or other block at the top of the window, counted from 0."""
    offset: float
    """How much of that block was passed, from 0 to 1."""
    updated_at: str | None
    read_at: str | None


def found_annotation_shape(annotation: model.Annotation, item: model.Item) -> FoundAnnotation:
    """Return an annotation with its item."""
    about: AnnotatedItem = {
        "id": item.id,
        "title": item.title,
        "url": item.url_full,
        "author": item.author,
        "domain": item.domain,
    }
    return cast("FoundAnnotation", {**annotation_shape(annotation), "item": about})


def reading_shape(state: ReadingState) -> Reading:
    """Return how far an item has been read."""
    return {
        "item_id": state.item_id,
        "state": state.state,
        "chosen": state.chosen,
        "progress": state.progress,
        "block": state.block,
        "offset": state.offset,
        "updated_at": state.updated_at or None,
        "read_at": state.read_at,
    }
