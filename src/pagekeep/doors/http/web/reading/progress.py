"""`/items/{id}/reading`: how far an item has been read, as the article page reports it, and *Mark as read*."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response

from pagekeep.doors.http.middleware.cross_site import own_path
from pagekeep.doors.http.web.layout.page import WriteFrame
from pagekeep.library.reading.states import choose_state, report_position

router = APIRouter()


@router.post("/items/{key}/reading")
def report_reading(
    frame: WriteFrame,
    key: str,
    progress: Annotated[float | None, Form(ge=0, le=1)] = None,
    block: Annotated[int, Form(ge=0, le=2**31 - 1)] = 0,
    offset: Annotated[float, Form(ge=0, le=1)] = 0.0,
    at: Annotated[str, Form(max_length=40)] = "",
    state: Annotated[Literal["", "unread", "read"], Form()] = "",
    back: Annotated[str, Form()] = "",
) -> Response:
    """Store the position that a device reports, or the state that the user chose."""
    if progress is not None:
        report_position(frame.library, key, progress, block=block, offset=offset, at=at or None)
    if state:
        choose_state(frame.library, key, state)
    if frame.wants_part or not state:
        return Response(status_code=204)
    return RedirectResponse(own_path(back or f"/items/{key}"), 303)
