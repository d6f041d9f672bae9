"""`/help`: the documentation, searchable. It needs no sign-in, as it has only what is in the package."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool

from pagekeep.doors.http.caller import Caller, identify
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.doors.http.web.help.contents import (
    MAX_QUERY_CHARS,
    list_sections,
    load_images,
    load_pages,
    search_help,
    slug,
)
from pagekeep.doors.http.web.layout.page import Frame, page
from pagekeep.errors import AccessError, NotFound

router = APIRouter()
_HERE: Final = "https://help.invalid"
"""The renderer makes links absolute; this is taken off again, so that they are paths of ours."""


async def _show(request: Request, service: Service, template: str, **values: Any) -> HTMLResponse:
    """Render a page; for a caller who may read a library, with its tools and sidebar."""
    caller: Caller | None = None
    with suppress(AccessError):
        caller = await identify(request, service)
    if caller is None or "read" not in caller.scopes:
        return page(request, template, **values)
    async with service.libraries.borrow(caller.user_id) as library:
        return await run_in_threadpool(Frame(request, service, caller, library).show, template, **values)


@router.get("/help")
async def show_help(
    request: Request, service: CurrentService, q: Annotated[str, Query(max_length=MAX_QUERY_CHARS)] = ""
) -> HTMLResponse:
    """Show the table of contents, or the sections that a search finds."""
    values = {"sections": list_sections(), "query": q.strip(), "hits": search_help(q)}
    return await _show(request, service, "help/contents.html", **values)


@router.get("/help/images/{name:path}")
async def help_image(name: str) -> Response:
    """Return a picture of the documentation."""
    found = load_images().get(name)
    if found is None:
        raise NotFound("There is no such picture.")
    content, media_type = found
    return Response(content, media_type=media_type, headers={"Cache-Control": "public, max-age=3600"})


@router.get("/help/{name:path}")
async def show_help_page(request: Request, service: CurrentService, name: str) -> HTMLResponse:
    """Show a page of the documentation."""
    found = load_pages().get(name)
    if found is None:
        raise NotFound("There is no such page in the help.", suggestions=("Look for it in the contents of the help.",))
    rendered = await service.renderer.render(found.markdown, base=f"{_HERE}/help/{name}", title=found.title)
    html, headings = rendered.html.replace(f'="{_HERE}/', '="/'), []
    for part in ("<pre", '<div class="table"'):  # wide ones are scrolled with the keyboard, also without a script
        html = html.replace(part, f'{part} tabindex="0"')
    for heading in rendered.headings:
        html = html.replace(f'id="{heading.id}"', f'id="{slug(heading.text)}"', 1)
        if heading.level == 2:
            headings.append((slug(heading.text), heading.text))
    return await _show(
        request,
        service,
        "help/page.html",
        sections=list_sections(),
        current=found,
        html=Markup(html),  # sanitised by the renderer
        headings=headings,
    )
