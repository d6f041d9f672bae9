"""`/suggestions`: what the text in a box for tags, sites or authors may become."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from pagekeep.doors.http.web.layout.page import ReadFrame
from pagekeep.library.browse.counts import BrowsedKind, suggest

router = APIRouter()


@router.get("/suggestions")
def suggestions(frame: ReadFrame, kind: BrowsedKind, q: Annotated[str, Query(max_length=200)] = "") -> JSONResponse:
    """Return at most ten suggestions, the most used first."""
    found = suggest(frame.library, kind, q)
    return JSONResponse({"suggestions": [{"name": one.name, "count": one.count} for one in found]})
