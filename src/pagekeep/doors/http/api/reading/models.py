"""Bodies of requests and responses about reading."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from pagekeep.doors.http.api.request_models import RequestBody
from pagekeep.model.reading import ReadState
from pagekeep.present.json_shapes import Item
from pagekeep.present.reading.shapes import FoundAnnotation, Reading


class FoundAnnotations(TypedDict):
    annotations: list[FoundAnnotation]
    next: str | None


class OneReading(TypedDict):
    reading: Reading


class StartedItem(TypedDict):
    item: Item
    reading: Reading


class StartedItems(TypedDict):
    items: list[StartedItem]


class Similar(TypedDict):
    item: Item
    score: float
    """How much they have in common, from 0 to 1."""
    shared: list[str]
    """Rare words that both have."""


class SimilarItems(TypedDict):
    items: list[Similar]


class ReadingChanges(RequestBody):
    """A position that a device reports, or a state that the user chose, or both."""

    progress: Annotated[float, Field(ge=0, le=1)] | None = None
    block: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    offset: Annotated[float, Field(ge=0, le=1)] = 0.0
    at: Annotated[str, Field(max_length=40)] | None = Field(
        None, description="When the device was at this position; a report that is newer than this one stays."
    )
    state: ReadState | None = None
