"""`/items/{id}`: a page to read, and what can be done with it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.capture.from_url import Request
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.web.annotations import COLOURS
from pagekeep.doors.http.web.layout.images import signer
from pagekeep.doors.http.web.layout.page import Changing, Frame, Looking
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.library.annotations import marks
from pagekeep.library.items import retag
from pagekeep.library.save import MOST_RETRIES, retry
from pagekeep.model import Item
from pagekeep.present.markdown_html import body_of

router = APIRouter()

RAW_POLICY: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""A page as it was fetched runs nothing, fetches nothing, and is not of our origin."""


@router.get("/items/{key}")
def read(frame: Looking, key: str) -> HTMLResponse:
    """The page, to be read. Looking at it changes nothing: our script tells that it was opened."""
    return _shown(frame, frame.library.get(key))


def _shown(frame: Frame, item: Item, problem: PagekeepError | None = None) -> HTMLResponse:
    picture = signer(frame.service, frame.caller)
    rendered = frame.service.renderer.render(body_of(item.content), base=item.url, title=item.title, picture=picture)
    tried = item.metadata.retry_count
    page = frame.show(
        "item.html",
        status=status_of(problem) if problem else 200,
        item=item,
        content=rendered.html,
        headings=[heading for heading in rendered.headings if heading.level <= 3],
        retries=max(0, MOST_RETRIES - tried),
        problem=problem,
        passages=marks(frame.library, item.id),
        colours=COLOURS,
    )
    if rendered.passing:
        page.headers["Cache-Control"] = "no-store"
    return page


@router.get("/items/{key}/markdown")
def markdown(frame: Looking, key: str) -> Response:
    """The document as a file to keep."""
    item = frame.library.get(key)
    name = quote(f"{file_name(item.title)}.md")
    return Response(
        item.content.encode("utf-8", "replace"),
        media_type="text/markdown; charset=utf-8",
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{name}", "Cache-Control": "private, no-cache"},
    )


def file_name(title: str) -> str:
    """A title as the name of a file, on any system."""
    kept = "".join(" " if char in '*"\\/<>:|?#^[]' or not char.isprintable() else char for char in title)
    return " ".join(kept.split()).lstrip(". ").encode("utf-8", "ignore")[:150].decode("utf-8", "ignore") or "page"


@router.get("/items/{key}/raw")
def raw(frame: Looking, key: str) -> Response:
    """The page as it was fetched: in a sandbox, as of no origin."""
    kept = frame.library.raw(frame.library.get(key).id)
    if kept is None:
        raise NotFound("The page as it was fetched was not kept.")
    is_html = "html" in kept.content_type
    charset = f"; charset={kept.encoding}" if kept.encoding and kept.encoding.replace("-", "").isalnum() else ""
    return Response(
        kept.body,
        headers={
            "Content-Type": f"text/{'html' if is_html else 'plain'}{charset}",
            "Content-Security-Policy": RAW_POLICY,
            "X-DNS-Prefetch-Control": "off",
            "Cache-Control": "private, no-cache",
        },
    )


@router.post("/items/{key}/tags")
def tag(
    frame: Changing,
    key: str,
    add: Annotated[str, Form(max_length=500)] = "",
    remove: Annotated[str, Form(max_length=500)] = "",
) -> Response:
    """Tags put on, apart by commas, or one taken off."""
    item = retag(frame.library, key, add=add.split(","), remove=(remove,) if remove else ())
    if frame.wants_part:
        return frame.show("_tags.html", item=item)
    return RedirectResponse(f"/items/{item.id}", 303)


@router.post("/items/{key}/retry")
async def again(frame: Changing, key: str, render: Annotated[Literal["", "auto", "force"], Form()] = "") -> Response:
    """Fetch and read it anew, a few times by hand."""
    library = frame.library
    asked: Any = Request("", render=render or None)
    try:
        saved = await retry(key, library, frame.service.retrieval, request=asked)
    except PagekeepError as error:
        item = await asyncio.to_thread(library.get, key)
        return await asyncio.to_thread(_shown, frame, item, error)
    return RedirectResponse(f"/items/{saved.item.id}?retried={saved.outcome}", 303)
