"""`/api/v1/items/{item}/reading`, `/similar` and `/api/v1/reading`: how far items have been read, and similar ones."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from pagekeep.doors.http.api.items import ItemId
from pagekeep.doors.http.api.reading.models import OneReading, ReadingChanges, SimilarItems, StartedItems
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.errors import InvalidQuery
from pagekeep.library.reading.similar import similar_items
from pagekeep.library.reading.states import choose_state, get_reading, report_position, started_items
from pagekeep.present.json_shapes import item_shape
from pagekeep.present.reading.shapes import reading_shape

router = APIRouter(prefix="/api/v1", tags=["reading"])


@router.get("/items/{item_id}/reading", responses=error_responses(404))
def read_progress(item_id: ItemId, library: ReadLibrary) -> OneReading:
    """Return how far an item has been read, and where to go on."""
    return {"reading": reading_shape(get_reading(library, item_id))}


@router.patch("/items/{item_id}/reading", responses=error_responses(404))
def change_progress(item_id: ItemId, body: ReadingChanges, library: WriteLibrary) -> OneReading:
    """Report the position of a device, or choose a state.

    A position makes an unread item one that is being read, and read at its end, unless the user chose a state. Of positions,
    the newest by `at` wins; the response has what is stored.
    """
    if body.progress is None and body.state is None:
        raise InvalidQuery("Nothing to change.", suggestions=("Send `progress`, `state`, or both.",))
    if body.progress is not None:
        state = report_position(library, item_id, body.progress, block=body.block, offset=body.offset, at=body.at)
    if body.state is not None:
        state = choose_state(library, item_id, body.state)
    return {"reading": reading_shape(state)}


@router.get("/reading", responses=error_responses())
def list_started(library: ReadLibrary, limit: Annotated[int, Query(ge=1, le=24)] = 12) -> StartedItems:
    """List the items of the inbox that are being read, those read last first."""
    found = started_items(library, limit)
    return {"items": [{"item": item_shape(one.item), "reading": reading_shape(one.reading)} for one in found]}


@router.get("/items/{item_id}/similar", responses=error_responses(404))
def list_similar(item_id: ItemId, library: ReadLibrary, limit: Annotated[int, Query(ge=1, le=20)] = 5) -> SimilarItems:
    """List the items that share rare words with an item, best first."""
    found = similar_items(library, item_id, limit)
    return {"items": [{"item": item_shape(one.item), "score": one.score, "shared": [*one.shared]} for one in found]}
