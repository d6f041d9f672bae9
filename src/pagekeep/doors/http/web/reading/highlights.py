"""`/highlights`: all highlights and notes of the library, searched, by page or by day, and as a file."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from pagekeep.doors.http.web.layout.page import ReadFrame
from pagekeep.errors import InvalidQuery
from pagekeep.library.reading.annotation_files import FILES, AnnotationFormat, write_annotations
from pagekeep.library.reading.highlights import Highlights, find_gone, list_highlights
from pagekeep.model import Annotation

router = APIRouter()

_GROUPINGS: Final = {"page": "By page", "day": "By day"}
_FORMATS: Final[dict[AnnotationFormat, str]] = {"markdown": "Markdown", "csv": "CSV", "readwise": "Readwise CSV"}
_FRAGMENT_WORDS: Final = 5
"""Words at both ends of a quote by which browsers find it without our script."""
Text = Annotated[str, Query(max_length=500)]


@router.get("/highlights")
async def show_highlights(
    frame: ReadFrame, q: Text = "", by: str = "page", after: Annotated[str | None, Query(max_length=2_000)] = None
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
def export_highlights(frame: ReadFrame, format: AnnotationFormat = "markdown", q: Text = "") -> StreamingResponse:
    """Download all highlights and notes, or those that a search finds."""
    name, media_type = FILES[format]
    parts = (part.encode("utf-8", "replace") for part in write_annotations(frame.library, format, q.strip()))
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return StreamingResponse(parts, media_type=media_type, headers=headers)
