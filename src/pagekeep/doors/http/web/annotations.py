"""`/items/{id}/annotations`: passages of a page that the reader marks, and notes on them."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response
from pydantic import BeforeValidator

from pagekeep.doors.http.web.layout.formatting import shade
from pagekeep.doors.http.web.layout.page import Changing, Frame
from pagekeep.library.annotations import change_mark, mark, marks, unmark

router = APIRouter()

COLOURS: Final = ("yellow", "green", "blue", "pink")
"""What the reader offers; what others called them is shown as the nearest."""
LONGEST: Final = 10_000


def _lines(text: str) -> str:
    """Browsers send the ends of lines as two characters, and count them as one."""
    return text.replace("\r\n", "\n")


Words = Annotated[str, BeforeValidator(_lines), Form(max_length=LONGEST)]
Colour = Annotated[Literal["yellow", "green", "blue", "pink", ""], Form()]


@router.post("/items/{key}/annotations")
def add(
    frame: Changing,
    key: str,
    quote: Words = "",
    before: Words = "",
    after: Words = "",
    note: Words = "",
    colour: Colour = "",
) -> Response:
    """A passage found again by its words, or without one a note on the whole page; of nothing at all nothing is made."""
    if quote.strip() or note.strip():
        mark(frame.library, key, quote.strip(), before=before, after=after, note=note.strip(), colour=colour or None)
    return _shown(frame, key)


@router.post("/items/{key}/annotations/{mark_id}")
def change(
    frame: Changing,
    key: str,
    mark_id: str,
    note: Words = "",
    colour: Colour = "",
    action: Annotated[Literal["save", "delete"], Form()] = "save",
) -> Response:
    """Another note or colour, or the mark taken off."""
    if action == "delete":
        unmark(frame.library, key, mark_id)
    else:
        had = {one.id: one.colour for one in marks(frame.library, key)}
        # One that another program gave stays what it is called there, unless it was changed.
        given = None if colour in ("", shade(had.get(mark_id))) else colour
        change_mark(frame.library, key, mark_id, note=note.strip(), colour=given)
    return _shown(frame, key)


def _shown(frame: Frame, key: str) -> Response:
    item = frame.library.get(key)
    if frame.wants_part:
        return frame.show("_passages.html", item=item, passages=marks(frame.library, item.id), colours=COLOURS)
    return RedirectResponse(f"/items/{item.id}#passages", 303)
