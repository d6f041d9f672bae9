"""`/tags`: the tags, which are renamed, merged and deleted there, and that is undone."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.web.browse.facets import TAGS, Number, Text, show_shelf
from pagekeep.doors.http.web.layout.page import Frame, ReadFrame, WriteFrame
from pagekeep.errors import PagekeepError
from pagekeep.library.browse.tags import delete_tag, get_change, rename_tag, undo_tags
from pagekeep.model.tags import MAX_TAG_CHARS

router = APIRouter()


@router.get("/tags")
def tags(
    frame: ReadFrame, q: Text = "", sort: str = "count", page: Number = 1, did: str = "", more: str = ""
) -> HTMLResponse:
    """Show the tags."""
    return show_shelf(
        frame, TAGS, q, sort, page, toast=_make_toast(frame, did, bool(more)), max_tag_chars=MAX_TAG_CHARS
    )


@router.post("/tags")
def change_tag(
    frame: WriteFrame,
    action: Annotated[str, Form(pattern="^(rename|delete)$")],
    tag: Annotated[str, Form(max_length=1_000)],
    new: Annotated[str, Form(max_length=1_000)] = "",
) -> Response:
    """Rename a tag, merge it with another, or remove it from all pages."""
    try:
        done = rename_tag(frame.library, tag, new) if action == "rename" else delete_tag(frame.library, tag)
    except PagekeepError as error:
        return show_shelf(frame, TAGS, status=status_of(error), problem=error, max_tag_chars=MAX_TAG_CHARS)
    if done.job:
        frame.service.background.nudge()
    more = {"more": "1"} if done.job else {}
    return RedirectResponse(f"/tags?{urlencode({'did': done.action.id, **more})}", 303)


@router.post("/tags/undo")
def undo_tag(frame: WriteFrame, action: Annotated[str, Form(max_length=100)]) -> Response:
    """Undo a change of a tag."""
    if undo_tags(frame.library, action)[1]:
        frame.service.background.nudge()
    return RedirectResponse("/tags", 303)


def _make_toast(frame: Frame, did: str, more: bool) -> dict[str, Any] | None:
    """Return the message about a change of a tag, with which it can be undone."""
    action = get_change(frame.library, did) if did else None
    return {"label": action.label, "count": action.changed, "id": action.id, "more": more} if action else None
