"""`/items/{id}/annotations`: highlights and notes on an item."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Form
from fastapi.responses import RedirectResponse, Response
from pydantic import BeforeValidator

from pagekeep.doors.http.web.layout.formatting import shade
from pagekeep.doors.http.web.layout.page import Frame, WriteFrame
from pagekeep.library.annotations import annotate, edit_annotation, get_annotations, remove_annotation
from pagekeep.library.items import get_item

router = APIRouter()

COLOURS: Final = ("yellow", "green", "blue", "pink")
"""The colours the reader offers; imported annotations with other colours are shown in the nearest one."""
MAX_FIELD_CHARS: Final = 10_000


def _normalise_newlines(text: str) -> str:
    """Browsers send a line break as two characters but count it as one towards `maxlength`."""
    return text.replace("\r\n", "\n")


Text = Annotated[str, BeforeValidator(_normalise_newlines), Form(max_length=MAX_FIELD_CHARS)]
Colour = Annotated[Literal["yellow", "green", "blue", "pink", ""], Form()]


@router.post("/items/{key}/annotations")
def add(
    frame: WriteFrame,
    key: str,
    quote: Text = "",
    before: Text = "",
    after: Text = "",
    note: Text = "",
    colour: Colour = "",
) -> Response:
    """Add a highlight, or a note on the whole page without a quote; do nothing if both are empty."""
    if quote.strip() or note.strip():
        annotate(
            frame.library, key, quote.strip(), before=before, after=after, note=note.strip(), colour=colour or None
        )
    return _show_list(frame, key)


@router.post("/items/{key}/annotations/{annotation_id}")
def change(
    frame: WriteFrame,
    key: str,
    annotation_id: str,
    note: Text = "",
    colour: Colour = "",
    action: Annotated[Literal["save", "delete"], Form()] = "save",
) -> Response:
    """Change the note or colour, or delete the annotation."""
    if action == "delete":
        remove_annotation(frame.library, key, annotation_id)
    else:
        old_colours = {one.id: one.colour for one in get_annotations(frame.library, key)}
        # Keep the colour name of another program unless the user changed it.
        new_colour = None if colour in ("", shade(old_colours.get(annotation_id))) else colour
        edit_annotation(frame.library, key, annotation_id, note=note.strip(), colour=new_colour)
    return _show_list(frame, key)


def _show_list(frame: Frame, key: str) -> Response:
    item = get_item(frame.library, key)
    if frame.wants_part:
        return frame.show(
            "_annotations.html",
            item=item,
            annotations=get_annotations(frame.library, item.id),
            colours=COLOURS,
            lost=(),
        )
    return RedirectResponse(f"/items/{item.id}#annotations", 303)
