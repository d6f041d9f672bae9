"""`/items/{id}/similar`: pages about the same subject."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from pagekeep.doors.http.web.layout.page import ReadFrame
from pagekeep.library.items import get_item
from pagekeep.library.reading.similar import similar_items

router = APIRouter()


@router.get("/items/{key}/similar")
def show_similar(frame: ReadFrame, key: str) -> HTMLResponse:
    """Show similar pages; only the list for our script, which adds it below the article."""
    item = get_item(frame.library, key)
    found = similar_items(frame.library, item.id)
    return frame.show("_similar.html" if frame.wants_part else "similar.html", item=item, similar=found)
