"""`/wallabag/api/annotations`: highlights of entries."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.compat.parameters import SentParameters
from pagekeep.doors.http.compat.wallabag import mapping
from pagekeep.doors.http.compat.wallabag.entries import Number
from pagekeep.doors.http.responses import Json
from pagekeep.errors import InvalidQuery
from pagekeep.library import items
from pagekeep.library.annotations import (
    annotate,
    edit_annotation,
    get_annotations,
    get_numbered_annotation,
    remove_annotation,
)

router = APIRouter(prefix="/api/annotations")
_MAX_CHARS = 10_000


@router.get("/{number}")
def list_annotations(number: Number, library: ReadLibrary) -> Response:
    """List the annotations of an entry."""
    rows = [mapping.annotation(one) for one in get_annotations(library, items.get_numbered(library, number).id)]
    return Json({"total": len(rows), "rows": rows})


@router.post("/{number}")
def add_annotation(number: Number, library: WriteLibrary, sent: SentParameters) -> Response:
    """Highlight a quote of an entry; where it is, `ranges`, is found by its words."""
    item = items.get_numbered(library, number)
    quote, note = sent.text("quote", max_chars=_MAX_CHARS), sent.text("text", max_chars=_MAX_CHARS)
    if not quote.strip() and not note.strip():
        raise InvalidQuery("`quote` or `text` is required.", suggestions=())
    made = annotate(library, item.id, quote, note=note)
    return Json({**mapping.annotation(made), "ranges": sent.raw("ranges")})


@router.put("/{number}")
def change_annotation(number: Number, library: WriteLibrary, sent: SentParameters) -> Response:
    """Change the text of an annotation."""
    old = get_numbered_annotation(library, number)
    changed = edit_annotation(library, old.item_id, old.id, note=sent.text("text", old.note, max_chars=_MAX_CHARS))
    return Json(mapping.annotation(changed))


@router.delete("/{number}")
def delete_annotation(number: Number, library: WriteLibrary) -> Response:
    """Delete an annotation."""
    old = get_numbered_annotation(library, number)
    remove_annotation(library, old.item_id, old.id)
    return Json(mapping.annotation(old))
