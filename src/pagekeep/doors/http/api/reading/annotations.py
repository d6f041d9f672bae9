"""`/api/v1/annotations`: annotations across the whole library."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from pagekeep.doors.http.api.reading.models import FoundAnnotations
from pagekeep.doors.http.caller import ReadLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.library.reading.annotation_files import FILES, AnnotationFormat, write_annotations
from pagekeep.library.reading.highlights import find_annotations
from pagekeep.present.reading.shapes import found_annotation_shape

router = APIRouter(prefix="/api/v1/annotations", tags=["annotations"])
Words = Annotated[str, Query(max_length=500, description="Only those with all of these words in quote or note.")]


@router.get("", responses=error_responses())
def search_annotations(
    library: ReadLibrary,
    q: Words = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    after: Annotated[str | None, Query(max_length=2_000)] = None,
) -> FoundAnnotations:
    """List the annotations of all items that are not deleted, newest first."""
    page = find_annotations(library, q, limit=limit, after=after)
    return {
        "annotations": [found_annotation_shape(one, page.items[one.item_id]) for one in page.annotations],
        "next": page.next,
    }


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The file.",
            "content": {
                kind.partition(";")[0]: {"schema": {"type": "string", "format": "binary"}} for _, kind in FILES.values()
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
    name, media_type = FILES[format]
    parts = (part.encode("utf-8", "replace") for part in write_annotations(library, format, q))
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return StreamingResponse(parts, media_type=media_type, headers=headers)
