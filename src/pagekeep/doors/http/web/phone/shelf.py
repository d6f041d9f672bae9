"""`/offline`: the shelf of the last pages, which the service worker keeps on the device."""

from __future__ import annotations

import hashlib
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse

from pagekeep.doors.http.web.layout.page import ReadFrame, page, shelf_key
from pagekeep.library.items import find_items
from pagekeep.model import Item, ItemQuery, item_filters

router = APIRouter()

MAX_PAGES: Final = 50
"""Pages on the shelf: the ones saved last."""


@router.get("/offline")
def offline(request: Request) -> HTMLResponse:
    """Show the page that the service worker falls back to; it contains no user data, so it needs no sign-in."""
    return page(request, "offline.html")


@router.get("/offline/pages")
def list_offline_pages(frame: ReadFrame) -> JSONResponse:
    """Return the pages of the shelf, for the service worker."""
    query = ItemQuery(filters=item_filters(), limit=MAX_PAGES)
    pages = [_shape(item) for item in find_items(frame.library, query).items]
    return JSONResponse({"user": shelf_key(frame.caller), "pages": pages}, headers={"Cache-Control": "no-store"})


def _shape(item: Item) -> dict[str, str]:
    about = item.metadata
    return {
        "path": f"/items/{item.id}",
        "title": item.title,
        "site": about.site_name or item.domain,
        "reading_time": about.reading_time or "",
        "version": hashlib.sha256(f"{item.updated_at} {about.content_hash}".encode()).hexdigest()[:12],
    }
