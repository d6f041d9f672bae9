"""`/api/v1/search` and `/api/v1/stats`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from pagekeep.doors.http.api.response_models import Stats
from pagekeep.doors.http.caller import ReadLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import Json, TaggedRoute
from pagekeep.library import items
from pagekeep.present.json_shapes import Hits, hit_shape

router = APIRouter(prefix="/api/v1", tags=["search"], route_class=TaggedRoute)


@router.get("/search", response_model=Hits, responses=error_responses())
def search_items(
    library: ReadLibrary,
    q: Annotated[str, Query(max_length=1000, examples=['lighthouse "harbour wall" -storm tag:history'])],
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    after: Annotated[str | None, Query(max_length=10_000)] = None,
) -> Json:
    """Search items, best match first. Also: is:pinned, domain:, tag:, quality:, before:, after:, "a phrase", -excluded."""
    page = items.search_items(library, q, limit=limit, after=after)
    hits: Hits = {"items": [hit_shape(hit) for hit in page.hits], "next": page.next}
    return Json(hits)  # not checked against the model at every request, as in `list_items`


@router.get("/stats", responses=error_responses())
def count_items(library: ReadLibrary) -> Stats:
    """Return counts of the library's items."""
    return {"stats": dict(items.count_items(library))}
