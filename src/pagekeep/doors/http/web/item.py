"""`/items/{id}`: the article page and its actions, and the forms that edit what a page says about itself."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from pagekeep.capture.documents.file_types import detect
from pagekeep.capture.from_url import Request
from pagekeep.doors.http.responses import copy_response, file_name, file_response
from pagekeep.doors.http.web.bulk import acted_toast
from pagekeep.doors.http.web.inbox import list_parameter, neighbours_in, view_of_list
from pagekeep.doors.http.web.layout import Frame, ReadFrame, WriteFrame, image_signer
from pagekeep.doors.http.web.reading import COLOURS
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.library.archive.copies import list_copies, read_copy, request_copies
from pagekeep.library.archive.pictures import show_pictures
from pagekeep.library.archive.versions import find_lost, get_history
from pagekeep.library.items import lists
from pagekeep.library.items.annotations import get_annotations
from pagekeep.library.items.build_item import first_raw_page
from pagekeep.library.items.change import FIELD_LABELS, change_item, edit_item
from pagekeep.library.items.find import get_item, get_item_and_raw, get_raw, related_items
from pagekeep.library.items.reading import get_reading
from pagekeep.library.items.tags import suggest_tags
from pagekeep.library.saving.save import MAX_RETRIES, retry
from pagekeep.library.watch import find_watch
from pagekeep.model import Annotation, Item
from pagekeep.model.archive import COPY_KINDS, CopyKind
from pagekeep.model.lists import ItemChange, edited_fields, page_values
from pagekeep.present.item_content import shown_content
from pagekeep.present.renderer import Rendered
from pagekeep.present.sections import body_of

router = APIRouter()

_HEADING: Final = re.compile(r'<h[1-6] id="(section-\d+)"')
_MAX_VERSIONS: Final = 6
"""Versions in the panel on the item's page."""

RAW_POLICY: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""A stored page runs no script, loads nothing, and does not get our origin."""


@router.get("/items/{key}")
async def read(
    frame: ReadFrame, key: str, copying: CopyKind | None = None, list: Annotated[str, Query(max_length=4_000)] = ""
) -> HTMLResponse:
    """Show the article. This changes nothing: our script reports that it was opened.

    `list` is the query of the list that it was opened from.
    """
    item = await run_in_threadpool(get_item, frame.library, key)
    return await _show_item(frame, item, copying=copying, listed=list)


async def _show_item(
    frame: Frame,
    item: Item,
    problem: PagekeepError | None = None,
    *,
    copying: CopyKind | None = None,
    listed: str = "",
) -> HTMLResponse:
    image_url = image_signer(frame.service, frame.caller)
    rendered = await frame.service.renderer.render(
        body_of(item.content), base=item.url, title=page_values(item)["title"] or "", image_url=image_url
    )
    annotations = await run_in_threadpool(get_annotations, frame.library, item.id)
    lost = await find_lost(item, annotations, frame.service.retrieval)
    return await run_in_threadpool(_fill_template, frame, item, rendered, problem, annotations, lost, copying, listed)


def _fill_template(
    frame: Frame,
    item: Item,
    rendered: Rendered,
    problem: PagekeepError | None,
    annotations: tuple[Annotation, ...],
    lost: tuple[str, ...],
    copying: CopyKind | None,
    listed: str,
) -> HTMLResponse:
    pages, view = _match_pages(item, rendered), view_of_list(listed, item)
    tried, versions = item.metadata.retry_count, get_history(frame.library, item.id).versions
    watched = find_watch(frame.library, item.id) is not None
    page = frame.show(
        "item.html",
        item=item,
        content=_add_anchors(rendered.html, pages),
        pages=pages,
        headings=[heading for heading in rendered.headings if heading.level <= 3],
        retries=max(0, MAX_RETRIES - tried),
        problem=problem,
        annotations=annotations,
        lost=lost,
        versions=len(versions),
        history=tuple(reversed(versions))[:_MAX_VERSIONS] if len(versions) > 1 or watched else (),
        watched=watched,
        pictures=show_pictures(frame.library, item),
        colours=COLOURS,
        copies=(copies := list_copies(frame.library, item.id)),
        copying=copying is not None and copying not in copies,
        copy_kinds=COPY_KINDS,
        related=related_items(frame.library, item),
        reading=get_reading(frame.library, item.id),
        list_address=view.address() if listed else "/failed" if item.metadata.failed else "/",
        list_parameter=list_parameter(listed),
        neighbours=neighbours_in(frame, view, item),
        suggestions=suggest_tags(frame.library, item),
        toast=acted_toast(frame, frame.request.query_params.get("acted", "")[:100]),
        **edit_values(frame, item),
    )
    if rendered.is_temporary:
        page.headers["Cache-Control"] = "no-store"
    return page


def _match_pages(item: Item, rendered: Rendered) -> dict[str, int]:
    """Return the id of each heading of a document to its page; empty when the text was edited since."""
    pages, headings = item.metadata.heading_pages, rendered.headings
    if len(pages) == len(headings) + 1:  # the first one was the title
        pages = pages[1:]
    return (
        {heading.id: page for heading, page in zip(headings, pages, strict=True)} if len(pages) == len(headings) else {}
    )


def _add_anchors(html: str, pages: dict[str, int]) -> str:
    """Return the content with the anchor `#page=7` before the first heading of each page."""
    first: dict[int, str] = {}
    for name, page in pages.items():
        first.setdefault(page, name)
    anchors = {name: f'<a id="page={page}"></a>' for page, name in first.items()}
    return _HEADING.sub(lambda match: anchors.get(match[1], "") + match[0], html) if anchors else html


@router.get("/items/{key}/markdown")
def markdown(frame: ReadFrame, key: str) -> Response:
    """Download the document as a Markdown file."""
    item = get_item(frame.library, key)
    name = quote(f"{file_name(item.title)}.md")
    return Response(
        shown_content(item).encode("utf-8", "replace"),
        media_type="text/markdown; charset=utf-8",
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{name}", "Cache-Control": "private, no-cache"},
    )


@router.get("/items/{key}/raw")
def raw(frame: ReadFrame, key: str) -> Response:
    """Show the stored HTML in a sandbox, without an origin; a document such as a PDF is downloaded."""
    stored = get_raw(frame.library, key)
    if stored is None:
        raise NotFound("The downloaded HTML of this page was not stored.")
    stored = first_raw_page(stored)
    file_type = detect(stored.body, stored.content_type)
    if file_type and not file_type.by_name:
        return file_response(stored, get_item(frame.library, key).title)
    is_html = "html" in stored.content_type
    charset = f"; charset={stored.encoding}" if stored.encoding and stored.encoding.replace("-", "").isalnum() else ""
    return Response(
        stored.body,
        headers={
            "Content-Type": f"text/{'html' if is_html else 'plain'}{charset}",
            "Content-Security-Policy": RAW_POLICY,
            "X-DNS-Prefetch-Control": "off",
            "Cache-Control": "private, no-cache",
        },
    )


@router.get("/items/{key}/copies/{kind}")
def show_copy(frame: ReadFrame, key: str, kind: CopyKind) -> Response:
    """Show a copy of the whole page in a sandbox, without an origin; a PDF is a download."""
    item = get_item(frame.library, key)
    return copy_response(read_copy(frame.library, item.id, kind), kind, item.id)


@router.post("/items/{key}/copies")
async def make_copies(frame: WriteFrame, key: str, kind: Annotated[CopyKind, Form()]) -> Response:
    """Make a copy of the whole page in the background."""
    item, _ = await run_in_threadpool(get_item_and_raw, frame.library, key)
    await run_in_threadpool(request_copies, frame.library, item, (kind,))
    frame.service.background.nudge()
    return RedirectResponse(f"/items/{item.id}?copying={kind}", 303)


@router.post("/items/{key}/tags")
def tag(
    frame: WriteFrame,
    key: str,
    add: Annotated[str, Form(max_length=500)] = "",
    remove: Annotated[str, Form(max_length=500)] = "",
    refuse: Annotated[str, Form(max_length=500)] = "",
) -> Response:
    """Add tags, separated by commas, remove one, or refuse a suggested one."""
    change = ItemChange(
        add_tags=tuple(add.split(",")),
        remove_tags=tuple(filter(None, [remove])),
        refuse_tags=tuple(filter(None, [refuse])),
    )
    item = change_item(frame.library, key, change)
    if frame.wants_part:
        return frame.show("_tags.html", item=item, suggestions=suggest_tags(frame.library, item))
    return RedirectResponse(f"/items/{item.id}", 303)


@router.post("/items/{key}/retry")
async def retry_item(
    frame: WriteFrame, key: str, render: Annotated[Literal["", "auto", "force"], Form()] = ""
) -> Response:
    """Fetch and extract the page again; the number of retries is limited."""
    library = frame.library
    request: Any = Request("", render=render or None)
    try:
        saved = await retry(key, library, frame.service.retrieval, request=request)
    except PagekeepError as error:
        return await _show_item(frame, await run_in_threadpool(get_item, library, key), error)
    return RedirectResponse(f"/items/{saved.item.id}?retried={saved.outcome}", 303)


_Field = Annotated[str | None, Form(max_length=2_000)]
_SHOWN: Final = {"title": "Title", "author": "Author", "published_at": "Date", "site_name": "Site"}


def edit_values(frame: Frame, item: Item) -> dict[str, Any]:
    """Return what the part `_edit.html` of a page shows."""
    own, edited = page_values(item), edited_fields(item)
    manual = [one for one in frame.library.lists.list() if one.kind == "manual"]
    return {
        "edit_fields": [
            {
                "name": name,
                "label": label,
                "value": (item.metadata.site_name if name == "site_name" else getattr(item, name)) or "",
                "own": own[name] or "",
                "edited": name in edited,
            }
            for name, label in _SHOWN.items()
        ],
        "edited_labels": [FIELD_LABELS[name] for name in edited],
        "item_lists": frame.library.lists.of_item(item.id),
        "manual_lists": manual,
    }


@router.get("/items/{key}/edit")
def show_edit_form(frame: ReadFrame, key: str) -> HTMLResponse:
    """Show the form that edits an item, on a page for itself."""
    return _show_form(frame, get_item(frame.library, key))


def _show_form(frame: Frame, item: Item, error: PagekeepError | None = None) -> HTMLResponse:
    return frame.show("edit.html", item=item, problem=error, **edit_values(frame, item))


@router.post("/items/{key}/edit")
def edit_fields(
    frame: WriteFrame,
    key: str,
    title: _Field = None,
    author: _Field = None,
    published_at: _Field = None,
    site_name: _Field = None,
    tags: _Field = None,
    reset: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    """Store what was edited, or use the page's own value of a field again."""
    item = get_item(frame.library, key)
    given = {"title": title, "author": author, "published_at": published_at, "site_name": site_name}
    now = {**{name: getattr(item, name, None) for name in given}, "site_name": item.metadata.site_name}
    values = {name: value for name, value in given.items() if value is not None and value.strip() != (now[name] or "")}
    new_tags = None if tags is None else tuple(tag.strip() for tag in tags.split(",") if tag.strip())
    try:
        if reset:
            done = edit_item(frame.library, item.id, {}, reset=[reset])
        elif values or (new_tags is not None and new_tags != item.metadata.tags):
            done = edit_item(frame.library, item.id, values, tags=new_tags)
        else:
            return RedirectResponse(f"/items/{item.id}", 303)
    except PagekeepError as error:
        return _show_form(frame, item, error)
    return RedirectResponse(f"/items/{item.id}?acted={done.action.id}", 303)


@router.post("/items/{key}/lists")
def put_on_list(
    frame: WriteFrame,
    key: str,
    add: Annotated[str, Form(max_length=200)] = "",
    remove: Annotated[str, Form(max_length=200)] = "",
    name: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Add an item to a list, which may be a new one, or remove it from one."""
    item = get_item(frame.library, key)
    if name.strip():
        add = lists.add_list(frame.library, name).id
    change = lists.add_items if add else lists.remove_items
    done = change(frame.library, add or remove, [item.id])
    return RedirectResponse(f"/items/{item.id}?acted={done.action.id}", 303)
