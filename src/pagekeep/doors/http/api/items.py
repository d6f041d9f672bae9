"""`/api/v1/items`: the items of the library, their formats (JSON, Markdown, HTML) and their ETags."""

from __future__ import annotations

import hashlib
import re
from asyncio import to_thread
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from pagekeep import model
from pagekeep.capture.from_url import Request as CaptureRequest
from pagekeep.doors.http.api.request_models import ItemChanges, PurgeRequest, ReparseRequest, RetryRequest
from pagekeep.doors.http.api.response_models import (
    Explanation,
    OneItem,
    OneSavedItem,
    OneWholeItem,
    PerhapsAnItem,
    Purged,
    Reparsed,
    Verification,
)
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import FETCH_STATUSES, error_responses
from pagekeep.doors.http.responses import Json, TaggedRoute, file_response, has_etag
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import Outdated
from pagekeep.library.archive.pictures import show_pictures
from pagekeep.library.items import change as actions
from pagekeep.library.items import find
from pagekeep.library.items.build_item import first_raw_page
from pagekeep.library.items.change import check_edits, check_fields
from pagekeep.library.saving.preview import preview_item
from pagekeep.library.saving.reparse import reparse_one
from pagekeep.library.saving.save import retry
from pagekeep.library.verify import verify_one
from pagekeep.model import MADE_FIELDS, ItemQuery, Order, QualityLevel, item_filters
from pagekeep.model.lists import change_from_json
from pagekeep.present.item_content import shown_content
from pagekeep.present.json_shapes import (
    Item,
    Items,
    items_shape,
    page_shape,
    saved_shape,
    to_json,
    trace_shape,
    whole_item_shape,
)
from pagekeep.present.renderer import Renderer
from pagekeep.present.sections import body_of
from pagekeep.present.tasks import CompareTask, ExplainTask
from pagekeep.workers import TEXT

router = APIRouter(prefix="/api/v1", tags=["items"], route_class=TaggedRoute)
ItemId = Annotated[str, Path(max_length=100, description="The item's ID or the beginning of it.")]
Time = Annotated[str | None, Query(pattern=r"^\d{4}(-\d{2}(-\d{2}(T[\d:.]+Z?)?)?)?$", examples=["2025-03-19"])]
PageKey = Annotated[str | None, Query(max_length=10_000, description="`next` of the previous page.")]
_MAX_LIMIT: Final = 200


@router.get("/items", response_model=Items, responses=error_responses())
def list_items(
    library: ReadLibrary,
    domain: Annotated[str | None, Query(max_length=300)] = None,
    tag: Annotated[
        list[str] | None, Query(max_length=20, description="If repeated, items that have all of the tags.")
    ] = None,
    pinned: bool | None = None,
    archived: Annotated[
        Literal["no", "yes", "any"] | None, Query(description="By default `no`; `any` for deleted and failed items.")
    ] = None,
    deleted: bool = False,
    quality: QualityLevel | None = None,
    fetch_again: Annotated[
        bool | None,
        Query(description="Only pages that could not be fetched and are to be fetched again, or no such pages."),
    ] = None,
    failed: Annotated[
        bool, Query(description="Only pages that could not be saved, archived or not; they are in no other list.")
    ] = False,
    gone: Annotated[bool | None, Query(description="Only pages that have gone from the web, or no such pages.")] = None,
    saved_after: Time = None,
    saved_before: Time = None,
    published_after: Time = None,
    published_before: Time = None,
    order: Order = "saved",
    descending: Annotated[
        bool | None, Query(description="Newest or Z first; the default is newest first, and A first by title.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=_MAX_LIMIT)] = 50,
    after: PageKey = None,
) -> Json:
    """List items; without filters, the inbox, newest first."""
    chosen = archived or ("any" if deleted or failed else "no")
    filters = item_filters(
        domain=domain,
        tags=tuple(tag or ()),
        pinned=pinned,
        archived={"no": False, "yes": True, "any": None}[chosen],
        deleted=deleted,
        quality=quality,
        fetch_again=fetch_again,
        failed=failed,
        gone=gone,
        saved_after=saved_after,
        saved_before=saved_before,
        published_after=published_after,
        published_before=published_before,
    )
    newest_first = order != "title" if descending is None else descending
    query = ItemQuery(filters=filters, order=order, descending=newest_first, limit=limit, after=after)
    page = library.search.find(query)
    # Not checked against the model at every request: that takes a third of the time (tests do it).
    return Json(items_shape(page.items, page.next))


@router.get("/items/lookup", responses=error_responses())
def look_up(library: ReadLibrary, url: Annotated[str, Query(max_length=8192)]) -> PerhapsAnItem:
    """Return the item with this URL, which need not be normalised; null if there is none."""
    item = find.look_up_url(library, url)
    return {"item": to_json(Item, item) if item is not None else None}


@router.post("/items/purge", responses=error_responses())
def purge_items(body: PurgeRequest, library: WriteLibrary) -> Purged:
    """Remove deleted items permanently, with their stored pages."""
    return {"purged": actions.purge_items(library, body.ids)}


ItemFormat = Literal["json", "markdown", "html"]
MEDIA_TYPES: Final[dict[ItemFormat, str]] = {
    "json": "application/json",
    "markdown": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
}


@router.get(
    "/items/{item_id}",
    response_model=OneWholeItem,
    responses={
        200: {"content": {kind: {"schema": {"type": "string"}} for kind in MEDIA_TYPES.values() if "json" not in kind}},
        304: {"description": "The client's copy is current."},
        **error_responses(404, 406),
    },
)
async def read_item(
    request: Request,
    item_id: ItemId,
    library: ReadLibrary,
    service: CurrentService,
    format: Annotated[ItemFormat | None, Query(description="Overrides the `Accept` header.")] = None,
) -> Response:
    """Return an item with its content: as JSON, Markdown with frontmatter or clean HTML, by `Accept` or `format`."""
    item_format = format or parse_accept(request.headers.get("accept"))
    item = await run_in_threadpool(find.get_item, library, item_id)
    if item_format != "json":
        return await text_response(item, item_format, service.renderer)
    pictures = await run_in_threadpool(show_pictures, library, item)
    # Not checked against the model, as in the list.
    return Json({"item": whole_item_shape(item, pictures)}, headers={"ETag": etag_with(item, pictures)})


@router.get(
    "/items/{item_id}/file",
    response_class=Response,
    responses={
        200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
        304: {"description": "The client's copy is current."},
        **error_responses(404),
    },
)
def read_file(item_id: ItemId, library: ReadLibrary) -> Response:
    """Return the file that the item was made from, as a download: the PDF or other document, or the page as it was fetched."""
    item, raw = find.get_item_and_raw(library, item_id)
    return file_response(first_raw_page(raw), item.title)


@router.patch("/items/{item_id}", responses=error_responses(404, 412))
def change_item(
    response: Response,
    item_id: ItemId,
    body: ItemChanges,
    library: WriteLibrary,
    if_match: Annotated[
        str | None, Header(description="Change the item only if its current `ETag` is this one.")
    ] = None,
) -> OneItem:
    """Pin, archive, tag or edit an item, or mark it as opened. Edits are kept when the page is extracted again."""
    item = find.get_item(library, item_id)
    since = None if if_match is None else check_if_match(item, if_match)
    sent = body.model_dump() | {"edits": check_edits(body.edits), "reset": check_fields(body.reset)}
    if not item.metadata.failed:
        del sent["failed"]
    item = actions.change_item(library, item.id, change_from_json(sent), unchanged_since=since)
    if body.opened:
        item = find.open_item(library, item.id)
    response.headers["ETag"] = etag_of(item, "json")
    return {"item": to_json(Item, item)}


@router.delete("/items/{item_id}", responses=error_responses(404))
def delete_item(item_id: ItemId, library: WriteLibrary) -> OneItem:
    """Move an item to the trash; it can be restored until it is purged."""
    return {"item": to_json(Item, actions.change_item(library, item_id, actions.MOVES["delete"]))}


@router.post("/items/{item_id}/restore", responses=error_responses(404))
def restore_item(item_id: ItemId, library: WriteLibrary) -> OneItem:
    """Restore a deleted item."""
    return {"item": to_json(Item, actions.change_item(library, item_id, actions.MOVES["restore"]))}


@router.post("/items/{item_id}/retry", responses=error_responses(404, 409, *FETCH_STATUSES))
async def retry_item(
    item_id: ItemId, body: RetryRequest, library: WriteLibrary, service: CurrentService
) -> OneSavedItem:
    """Fetch and extract an item again; at most three times until it succeeds."""
    request = CaptureRequest("", render=body.render, wait_for=body.wait_for)
    saved = await retry(item_id, library, service.retrieval, request=request)
    return {"item": saved_shape(saved)}


@router.post("/items/{item_id}/reparse", responses=error_responses(404))
async def reparse_item(
    item_id: ItemId, body: ReparseRequest, library: WriteLibrary, service: CurrentService
) -> Reparsed:
    """Extract the stored page again with the current parser and rules. A worse result does not replace the stored one."""
    done = await reparse_one(item_id, library, service.retrieval, force=body.force, dry_run=body.dry_run)
    item = await to_thread(find.get_item, library, done.item.id)
    changed = done.content is not None and done.content != done.item.content
    compare = CompareTask(done.item.content, done.content or "")
    diff = await service.room.run(compare, TEXT) if changed else ()
    return {"outcome": done.outcome, "note": done.note, "diff": list(diff), "item": to_json(Item, item)}


@router.get("/items/{item_id}/explanation", responses=error_responses(404))
async def explain_item(item_id: ItemId, library: ReadLibrary, service: CurrentService) -> Explanation:
    """Explain how the item's content is extracted from the stored page."""
    page = await preview_item(item_id, library, service.retrieval, needs=MADE_FIELDS)
    explanation = await service.room.run(ExplainTask.of(page), TEXT)
    return {"explanation": explanation, "trace": trace_shape(page), "page": page_shape(page)}


@router.get("/items/{item_id}/verification", response_model=Verification, responses=error_responses(404))
async def verify_item(item_id: ItemId, library: ReadLibrary, service: CurrentService) -> dict[str, Any]:
    """Derive the item's text again from its stored page, and compare all hashes. Nothing is changed."""
    return (await verify_one(item_id, library, service.retrieval)).to_json()


_PICTURES_PART: Final = re.compile(r'(-json)-[0-9a-f]{8}"')
_ACCEPTED: Final[dict[str, ItemFormat]] = {
    "application/json": "json",
    "*/*": "json",
    "application/*": "json",
    "text/html": "html",
    "text/markdown": "markdown",
    "text/plain": "markdown",
    "text/*": "markdown",
}


def parse_accept(header: str | None) -> ItemFormat:
    """Return the format the client prefers by its `Accept` header; JSON without one."""
    ranges = [_parse_range(part) for part in (header or "*/*").split(",")[:50]]
    for kind, weight in sorted(ranges, key=lambda one: -one[1]):
        if weight > 0 and kind in _ACCEPTED:
            return _ACCEPTED[kind]
    return "json"


def _parse_range(part: str) -> tuple[str, float]:
    kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return kind, float(parameter[2:])
            except ValueError:
                return kind, 0.0
    return kind, 1.0


async def text_response(item: model.Item, item_format: Literal["markdown", "html"], renderer: Renderer) -> Response:
    """Return the item as Markdown, or as HTML without a page around it and with the images' original URLs."""
    headers = {"Content-Type": MEDIA_TYPES[item_format], "ETag": etag_of(item, item_format)}
    if item_format == "markdown":
        text = shown_content(item)
    else:
        rendered = await renderer.render(body_of(item.content), base=item.url)
        text = rendered.html
        if rendered.is_temporary:
            headers["Cache-Control"] = "no-store"
    return Response(text.encode("utf-8", "replace"), headers=headers)


def etag_of(item: model.Item, item_format: ItemFormat) -> str:
    """Return the ETag of the item's current state in that format."""
    state = f"{item.id} {item.updated_at} {item.last_opened_at}"
    return f'"{hashlib.sha256(state.encode()).hexdigest()[:24]}-{item_format}"'


def etag_with(item: model.Item, pictures: Sequence[object]) -> str:
    """Return the ETag of an item as JSON with its pictures, which change without it."""
    digest = hashlib.sha256(repr(pictures).encode("utf-8", "replace")).hexdigest()[:8]
    return etag_of(item, "json").removesuffix('"') + f'-{digest}"' if pictures else etag_of(item, "json")


def check_if_match(item: model.Item, if_match: str) -> str:
    """Return the time of the item's last change if a tag of the `If-Match` header is current; raise `Outdated` otherwise."""
    if_match = _PICTURES_PART.sub(r'\1"', if_match)
    if not any(has_etag(if_match, etag_of(item, item_format)) for item_format in MEDIA_TYPES):
        raise Outdated("The item was changed in the meantime.", suggestions=("Read it again and repeat the change.",))
    return item.updated_at
