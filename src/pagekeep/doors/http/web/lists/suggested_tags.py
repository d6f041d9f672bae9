"""`/suggested-tags`: accept or refuse suggested tags of many pages."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.web.layout.page import ReadFrame, WriteFrame
from pagekeep.errors import NotFound
from pagekeep.library.lists import suggestions

router = APIRouter()
_PAGE: Final = 20
_MAX_PICKED: Final = 400


@router.get("/suggested-tags")
def show_suggestions(frame: ReadFrame, after: Annotated[str | None, Query(max_length=2_000)] = None) -> HTMLResponse:
    """Show pages with suggested tags, last saved first."""
    return frame.show("suggestions.html", page=suggestions.list_suggestions(frame.library, limit=_PAGE, after=after))


@router.post("/suggested-tags")
def decide(
    frame: WriteFrame,
    action: Annotated[Literal["accept", "refuse"], Form()],
    picked: Annotated[list[str] | None, Form(max_length=_MAX_PICKED)] = None,
    one: Annotated[str, Form(max_length=400)] = "",
) -> Response:
    """Accept or refuse tags; each is named as the item's id, a colon and the tag."""
    chosen: dict[str, list[str]] = {}
    for pair in [one] if one else picked or []:
        item_id, _, tag = pair.partition(":")
        chosen.setdefault(item_id, []).append(tag[:200])
    decide_tags = suggestions.accept_tags if action == "accept" else suggestions.refuse_tags
    for item_id, tags in chosen.items():
        try:
            decide_tags(frame.library, item_id, tuple(tags))
        except NotFound:  # purged in the meantime, or never there
            continue
    return RedirectResponse("/suggested-tags", 303)
