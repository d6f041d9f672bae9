"""`/api/v1/search` and `/api/v1/stats`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from pagekeep.doors.http.api.models import Hits, Stats, failures
from pagekeep.doors.http.caller import Reads
from pagekeep.doors.http.responses import answer
from pagekeep.library import items
from pagekeep.present.json_shapes import hit_shape

router = APIRouter(prefix="/api/v1", tags=["search"])


@router.get("/search", response_model=Hits, responses=failures())
def search_items(
    request: Request,
    library: Reads,
    q: Annotated[str, Query(max_length=1000, examples=['lighthouse "harbour wall" -storm tag:history'])],
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    after: Annotated[str | None, Query(max_length=10_000)] = None,
) -> Response:
    """Items by their words, best first; also is:pinned, domain:, tag:, quality:, before:, after:, "a phrase" and -without."""
    page = items.search_items(library, q, limit=limit, after=after)
    return answer(request, {"items": [hit_shape(hit) for hit in page.hits], "next": page.next})


@router.get("/stats", response_model=Stats, responses=failures())
def count_items(request: Request, library: Reads) -> Response:
    """What is in the library, counted."""
    return answer(request, {"stats": dict(items.count_items(library))})
