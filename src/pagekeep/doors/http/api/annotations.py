"""`/api/v1/items/{item}/annotations`: passages that the reader marked."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from pagekeep.doors.http.api import models
from pagekeep.doors.http.api.items import ItemId
from pagekeep.doors.http.api.models import failures
from pagekeep.doors.http.caller import Changes, Reads
from pagekeep.doors.http.responses import Json, answer
from pagekeep.library.annotations import annotate, edit_annotation, get_annotations, remove_annotation
from pagekeep.present.json_shapes import annotation_shape

router = APIRouter(prefix="/api/v1/items/{item_id}/annotations", tags=["annotations"])
MarkId = Annotated[str, Path(max_length=100)]


@router.get("", response_model=models.Annotations, responses=failures(404))
def list_annotations(request: Request, item_id: ItemId, library: Reads) -> Response:
    """The marked passages of an item, oldest first."""
    return answer(request, {"annotations": [annotation_shape(one) for one in get_annotations(library, item_id)]})


@router.post("", status_code=201, response_model=models.OneAnnotation, responses=failures(404))
def add_annotation(item_id: ItemId, asked: models.Passage, library: Changes) -> Response:
    """Mark a passage by its words, or write a note on the whole page."""
    made = annotate(
        library,
        item_id,
        asked.quote,
        before=asked.before,
        after=asked.after,
        note=asked.note,
        colour=asked.colour,
    )
    return Json({"annotation": annotation_shape(made)}, 201)


@router.patch("/{annotation_id}", response_model=models.OneAnnotation, responses=failures(404))
def change_annotation(
    item_id: ItemId, annotation_id: MarkId, asked: models.ChangedPassage, library: Changes
) -> Response:
    """Change the note or the colour."""
    changed = edit_annotation(library, item_id, annotation_id, note=asked.note, colour=asked.colour)
    return Json({"annotation": annotation_shape(changed)})


@router.delete("/{annotation_id}", status_code=204, responses=failures(404))
def delete_annotation(item_id: ItemId, annotation_id: MarkId, library: Changes) -> Response:
    """Take the mark off."""
    remove_annotation(library, item_id, annotation_id)
    return Response(status_code=204)
