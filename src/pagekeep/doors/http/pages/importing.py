"""`/import`: a library brought along from elsewhere."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from pagekeep.doors.http.pages.frame import Looking

router = APIRouter()


@router.get("/import")
def form(frame: Looking) -> HTMLResponse:
    """How to bring pages along."""
    return frame.show("import.html")
