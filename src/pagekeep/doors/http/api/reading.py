"""Annotations of an item and of the whole library, how far items have been read, and similar ones."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response, StreamingResponse
from pydantic import Field
from typing_extensions import TypedDict

from pagekeep.doors.http.api.items import ItemId
from pagekeep.doors.http.api.request_models import AnnotationChanges, NewAnnotation, RequestBody
from pagekeep.doors.http.api.response_models import Annotations, OneAnnotation
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import TaggedRoute, download
from pagekeep.errors import InvalidQuery
from pagekeep.library.items.annotations import (
    ANNOTATION_FILES,
    AnnotationFormat,
    annotate,
    edit_annotation,
    get_annotations,
    remove_annotation,
    write_annotations,
)
from pagekeep.library.items.reading import choose_state, get_reading, report_position, similar_items, started_items
from pagekeep.model.reading import ReadState
from pagekeep.present.json_shapes import Annotation, Item, to_json
from pagekeep.present.reading_shapes import FoundAnnotation, Reading, found_annotation_shape

annotations_router = APIRouter(
    prefix="/api/v1/items/{item_id}/annotations", tags=["annotations"], route_class=TaggedRoute
)
AnnotationId = Annotated[str, Path(max_length=100)]


@annotations_router.get("", responses=error_responses(404))
def list_annotations(item_id: ItemId, library: ReadLibrary) -> Annotations:
    """List the annotations of an item, oldest first."""
    return {"annotations": [to_json(Annotation, one) for one in get_annotations(library, item_id)]}


@annotations_router.post("", status_code=201, responses=error_responses(404))
def add_annotation(item_id: ItemId, body: NewAnnotation, library: WriteLibrary) -> OneAnnotation:
    """Add a highlight, or a note on the whole page."""
    made = annotate(
        library,
        item_id,
        body.quote,
        before=body.before,
        after=body.after,
        note=body.note,
        colour=body.colour,
    )
    return {"annotation": to_json(Annotation, made)}


@annotations_router.patch("/{annotation_id}", responses=error_responses(404))
def change_annotation(
    item_id: ItemId, annotation_id: AnnotationId, body: AnnotationChanges, library: WriteLibrary
) -> OneAnnotation:
    """Change the note or the colour."""
    changed = edit_annotation(library, item_id, annotation_id, note=body.note, colour=body.colour)
    return {"annotation": to_json(Annotation, changed)}


@annotations_router.delete("/{annotation_id}", status_code=204, responses=error_responses(404))
def delete_annotation(item_id: ItemId, annotation_id: AnnotationId, library: WriteLibrary) -> Response:
    """Delete an annotation."""
    remove_annotation(library, item_id, annotation_id)
    return Response(status_code=204)


all_annotations_router = APIRouter(prefix="/api/v1/annotations", tags=["annotations"])
Words = Annotated[str, Query(max_length=500, description="Only those with all of these words in quote or note.")]

FoundAnnotations = TypedDict("FoundAnnotations", {"annotations": list[FoundAnnotation], "next": str | None})


@all_annotations_router.get("", responses=error_responses())
def search_annotations(
    library: ReadLibrary,
    q: Words = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    after: Annotated[str | None, Query(max_length=2_000)] = None,
) -> FoundAnnotations:
    """List the annotations of all items that are not deleted, newest first."""
    page = library.annotations.find(q, limit=limit, after=after)
    return {
        "annotations": [found_annotation_shape(one, page.items[one.item_id]) for one in page.annotations],
        "next": page.next,
    }


@all_annotations_router.get(
    "/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The file.",
            "content": {
                kind.partition(";")[0]: {"schema": {"type": "string", "format": "binary"}}
                for _, kind in ANNOTATION_FILES.values()
            },
        },
        **error_responses(),
    },
)
def export_annotations(
    library: ReadLibrary,
    format: Annotated[
        AnnotationFormat,
        Query(description="`markdown`: to read; `csv`: all fields; `readwise`: the columns that Readwise imports."),
    ] = "markdown",
    q: Words = "",
) -> StreamingResponse:
    """Export the annotations of all items, or those that a search finds, as one file."""
    parts = (part.encode("utf-8", "replace") for part in write_annotations(library, format, q))
    return download(parts, *ANNOTATION_FILES[format])


router = APIRouter(prefix="/api/v1", tags=["reading"])

OneReading = TypedDict("OneReading", {"reading": Reading})


@router.get("/items/{item_id}/reading", responses=error_responses(404))
def read_progress(item_id: ItemId, library: ReadLibrary) -> OneReading:
    """Return how far an item has been read, and where to go on."""
    return {"reading": to_json(Reading, get_reading(library, item_id))}


class ReadingChanges(RequestBody):
    """A position that a device reports, or a state that the user chose, or both."""

    progress: Annotated[float, Field(ge=0, le=1)] | None = None
    block: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    offset: Annotated[float, Field(ge=0, le=1)] = 0.0
    at: Annotated[str, Field(max_length=40)] | None = Field(
        None, description="When the device was at this position; a report that is newer than this one stays."
    )
    state: ReadState | None = None


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
    return {"reading": to_json(Reading, state)}


StartedItem = TypedDict("StartedItem", {"item": Item, "reading": Reading})
StartedItems = TypedDict("StartedItems", {"items": list[StartedItem]})


@router.get("/reading", responses=error_responses())
def list_started(library: ReadLibrary, limit: Annotated[int, Query(ge=1, le=24)] = 12) -> StartedItems:
    """List the items of the inbox that are being read, those read last first."""
    found = started_items(library, limit)
    return {"items": [{"item": to_json(Item, one.item), "reading": to_json(Reading, one.reading)} for one in found]}


class Similar(TypedDict):
    item: Item
    score: float
    """How much they have in common, from 0 to 1."""
    shared: list[str]
    """Rare words that both have."""


SimilarItems = TypedDict("SimilarItems", {"items": list[Similar]})


@router.get("/items/{item_id}/similar", responses=error_responses(404))
def list_similar(item_id: ItemId, library: ReadLibrary, limit: Annotated[int, Query(ge=1, le=20)] = 5) -> SimilarItems:
    """List the items that share rare words with an item, best first."""
    found = similar_items(library, item_id, limit)
    return {"items": [{"item": to_json(Item, one.item), "score": one.score, "shared": [*one.shared]} for one in found]}
