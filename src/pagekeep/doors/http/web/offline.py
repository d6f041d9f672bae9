"""`/offline`: what the service worker shows when the server cannot be reached."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from pagekeep.doors.http.web.layout.page import page

router = APIRouter()


@router.get("/offline")
def offline(request: Request) -> HTMLResponse:
    """The pages that were opened before, listed by our script; nobody's in particular, so anyone may have it."""
    return page(request, "offline.html")
