"""`/api/v1/items/{item}/annotations`: highlights and notes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response

from pagekeep.doors.http.api.items import ItemId
from pagekeep.doors.http.api.request_models import AnnotationChanges, NewAnnotation
from pagekeep.doors.http.api.response_models import Annotations, OneAnnotation
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import TaggedRoute
from pagekeep.library.annotations import annotate, edit_annotation, get_annotations, remove_annotation
from pagekeep.present.json_shapes import annotation_shape

router = APIRouter(prefix="/api/v1/items/{item_id}/annotations", tags=["annotations"], route_class=TaggedRoute)
AnnotationId = Annotated[str, Path(max_length=100)]


@router.get("", responses=error_responses(404))
def list_annotations(item_id: ItemId, library: ReadLibrary) -> Annotations:
    """List the annotations of an item, oldest first."""
    return {"annotations": [annotation_shape(one) for one in get_annotations(library, item_id)]}


@router.post("", status_code=201, responses=error_responses(404))
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
    return {"annotation": annotation_shape(made)}


@router.patch("/{annotation_id}", responses=error_responses(404))
def change_annotation(
    item_id: ItemId, annotation_id: AnnotationId, body: AnnotationChanges, library: WriteLibrary
) -> OneAnnotation:
    """Change the note or the colour."""
    changed = edit_annotation(library, item_id, annotation_id, note=body.note, colour=body.colour)
    return {"annotation": annotation_shape(changed)}


@router.delete("/{annotation_id}", status_code=204, responses=error_responses(404))
def delete_annotation(item_id: ItemId, annotation_id: AnnotationId, library: WriteLibrary) -> Response:
    """Delete an annotation."""
    remove_annotation(library, item_id, annotation_id)
    return Response(status_code=204)
