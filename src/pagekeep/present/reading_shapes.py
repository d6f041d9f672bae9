"""JSON shapes about reading: annotations with their items, and how far items have been read."""

from __future__ import annotations

from pagekeep import model
from pagekeep.model.reading import ReadingState
from pagekeep.present.json_shapes import Annotation, TypedDict, same_as, shape_of, to_json


@shape_of(model.Item, url="url_full")
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


@same_as(ReadingState, updated_at=lambda reading: reading.updated_at or None)
class Reading(TypedDict):
    """How far an item has been read, and where to go on."""

    updated_at: str | None


def found_annotation_shape(annotation: model.Annotation, item: model.Item) -> FoundAnnotation:
    """Return an annotation with its item."""
    return {**to_json(Annotation, annotation), "item": to_json(AnnotatedItem, item)}
