"""Highlights and notes of an item and of the whole library, reading progress, similar pages, and the shelf for offline."""

from __future__ import annotations

import hashlib
from typing import Annotated, Final, Literal
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from pydantic import BeforeValidator
from starlette.concurrency import run_in_threadpool

from pagekeep.doors.http.middleware.origins import own_path
from pagekeep.doors.http.responses import download
from pagekeep.doors.http.web.formatting import shade
from pagekeep.doors.http.web.layout import Frame, ReadFrame, WriteFrame, page, shelf_key
from pagekeep.errors import InvalidQuery
from pagekeep.library.items.annotations import (
    ANNOTATION_FILES,
    AnnotationFormat,
    Highlights,
    annotate,
    edit_annotation,
    find_gone,
    get_annotations,
    list_highlights,
    remove_annotation,
    write_annotations,
)
from pagekeep.library.items.find import get_item
from pagekeep.library.items.reading import choose_state, report_position, similar_items
from pagekeep.model import Annotation, Item, ItemQuery, item_filters

router = APIRouter()

COLOURS: Final = ("yellow", "green", "blue", "pink")
"""The colours the reader offers; imported annotations with other colours are shown in the nearest one."""
MAX_FIELD_CHARS: Final = 10_000


# Browsers send a line break as two characters but count it as one towards `maxlength`.
Text = Annotated[str, BeforeValidator(lambda text: text.replace("\r\n", "\n")), Form(max_length=MAX_FIELD_CHARS)]
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


_GROUPINGS: Final = {"page": "By page", "day": "By day"}
_FORMATS: Final[dict[AnnotationFormat, str]] = {"markdown": "Markdown", "csv": "CSV", "readwise": "Readwise CSV"}
_FRAGMENT_WORDS: Final = 5
"""Words at both ends of a quote by which browsers find it without our script."""
SearchText = Annotated[str, Query(max_length=500)]


@router.get("/highlights")
async def show_highlights(
    frame: ReadFrame, q: SearchText = "", by: str = "page", after: Annotated[str | None, Query(max_length=2_000)] = None
) -> HTMLResponse:
    """Show one page of all highlights and notes."""
    q, grouping = q.strip(), "day" if by == "day" else "page"
    try:
        found = await run_in_threadpool(list_highlights, frame.library, q, by=grouping, after=after)  # type: ignore[arg-type]
    except InvalidQuery:  # the key of an old page
        found = Highlights((), {}, None)
    gone = await find_gone(found, frame.service.retrieval)

    def address(**changes: str | None) -> str:
        parts = {"q": q, "by": grouping, **changes}
        query = urlencode({name: value for name, value in parts.items() if value and (name, value) != ("by", "page")})
        return f"/highlights?{query}" if query else "/highlights"

    return await run_in_threadpool(
        frame.show,
        "highlights.html",
        found=found,
        gone=gone,
        q=q,
        by=grouping,
        groupings=_GROUPINGS,
        formats=_FORMATS,
        address=address,
        place=find_place,
        is_first=after is None,
    )


def find_place(annotation: Annotation) -> str:
    """Return the address of an annotation in its article: our script scrolls to it, browsers without it find the words."""
    return f"/items/{annotation.item_id}#annotation-{annotation.id}{_text_fragment(annotation.quote)}"


def _text_fragment(text: str) -> str:
    words = text.split()
    if not words:
        return ""
    parts = [words] if len(words) <= 2 * _FRAGMENT_WORDS else [words[:_FRAGMENT_WORDS], words[-_FRAGMENT_WORDS:]]
    return ":~:text=" + ",".join(quote(" ".join(part), safe="").replace("-", "%2D") for part in parts)


@router.get("/highlights/export")
def export_highlights(frame: ReadFrame, format: AnnotationFormat = "markdown", q: SearchText = "") -> StreamingResponse:
    """Download all highlights and notes, or those that a search finds."""
    parts = (part.encode("utf-8", "replace") for part in write_annotations(frame.library, format, q.strip()))
    return download(parts, *ANNOTATION_FILES[format])


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


@router.get("/items/{key}/similar")
def show_similar(frame: ReadFrame, key: str) -> HTMLResponse:
    """Show similar pages; only the list for our script, which adds it below the article."""
    item = get_item(frame.library, key)
    found = similar_items(frame.library, item.id)
    return frame.show("_similar.html" if frame.wants_part else "similar.html", item=item, similar=found)


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
    pages = [_shape(item) for item in frame.library.search.find(query).items]
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
