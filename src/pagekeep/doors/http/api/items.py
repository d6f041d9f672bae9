"""`/api/v1/items`: the items of the library."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from pagekeep.capture.from_url import Request as CaptureRequest
from pagekeep.doors.http.api import item_formats
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
from pagekeep.doors.http.responses import Json, TaggedRoute, file_response
from pagekeep.doors.http.service import CurrentService
from pagekeep.library import actions, items
from pagekeep.library.build_item import first_raw_page
from pagekeep.library.lists.edit import check_edits, check_fields
from pagekeep.library.pictures.kept import show_pictures
from pagekeep.library.preview import preview_item
from pagekeep.library.receipts.verify import verify_one
from pagekeep.library.reparse.reparse import reparse_one
from pagekeep.library.save import retry
from pagekeep.model import MADE_FIELDS, ItemQuery, Order, QualityLevel, item_filters
from pagekeep.model.lists.values import ItemChange
from pagekeep.present.json_shapes import (
    Items,
    item_shape,
    items_shape,
    page_shape,
    saved_shape,
    trace_shape,
    whole_item_shape,
)
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
    page = items.find_items(library, query)
    # Not checked against the model at every request: that takes a third of the time (tests do it).
    return Json(items_shape(page.items, page.next))


@router.get("/items/lookup", responses=error_responses())
def look_up(library: ReadLibrary, url: Annotated[str, Query(max_length=8192)]) -> PerhapsAnItem:
    """Return the item with this URL, which need not be normalised; null if there is none."""
    item = items.look_up_url(library, url)
    return {"item": item_shape(item) if item is not None else None}


@router.post("/items/purge", responses=error_responses())
def purge_items(body: PurgeRequest, library: WriteLibrary) -> Purged:
    """Remove deleted items permanently, with their stored pages."""
    return {"purged": actions.purge_items(library, body.ids)}


@router.get(
    "/items/{item_id}",
    response_model=OneWholeItem,
    responses={
        200: {
            "content": {
                kind: {"schema": {"type": "string"}} for kind in item_formats.MEDIA_TYPES.values() if "json" not in kind
            }
        },
        304: {"description": "The client's copy is current."},
        **error_responses(404, 406),
    },
)
async def read_item(
    request: Request,
    item_id: ItemId,
    library: ReadLibrary,
    service: CurrentService,
    format: Annotated[item_formats.ItemFormat | None, Query(description="Overrides the `Accept` header.")] = None,
) -> Response:
    """Return an item with its content: as JSON, Markdown with frontmatter or clean HTML, by `Accept` or `format`."""
    item_format = format or item_formats.parse_accept(request.headers.get("accept"))
    item = await run_in_threadpool(items.get_item, library, item_id)
    if item_format != "json":
        return await item_formats.text_response(item, item_format, service.renderer)
    pictures = await run_in_threadpool(show_pictures, library, item)
    # Not checked against the model, as in the list.
    return Json({"item": whole_item_shape(item, pictures)}, headers={"ETag": item_formats.etag_with(item, pictures)})


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
    item, raw = items.get_item_and_raw(library, item_id)
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
    item = items.get_item(library, item_id)
    since = None if if_match is None else item_formats.check_if_match(item, if_match)
    change = ItemChange(
        failed=False if body.failed is False and item.metadata.failed else None,
        pinned=body.pinned,
        archived=body.archived,
        tags=None if body.tags is None else tuple(body.tags),
        add_tags=tuple(body.add_tags),
        remove_tags=tuple(body.remove_tags),
        refuse_tags=tuple(body.refuse_tags),
        edits=check_edits(body.edits),
        reset=check_fields(body.reset),
    )
    item = actions.change_item(library, item.id, change, unchanged_since=since)
    if body.opened:
        item = items.open_item(library, item.id)
    response.headers["ETag"] = item_formats.etag_of(item, "json")
    return {"item": item_shape(item)}


@router.delete("/items/{item_id}", responses=error_responses(404))
def delete_item(item_id: ItemId, library: WriteLibrary) -> OneItem:
    """Move an item to the trash; it can be restored until it is purged."""
    return {"item": item_shape(actions.change_item(library, item_id, actions.MOVES["delete"]))}


@router.post("/items/{item_id}/restore", responses=error_responses(404))
def restore_item(item_id: ItemId, library: WriteLibrary) -> OneItem:
    """Restore a deleted item."""
    return {"item": item_shape(actions.change_item(library, item_id, actions.MOVES["restore"]))}


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
    item = await to_thread(items.get_item, library, done.item.id)
    changed = done.content is not None and done.content != done.item.content
    compare = CompareTask(done.item.content, done.content or "")
    diff = await service.room.run(compare, TEXT) if changed else ()
    return {"outcome": done.outcome, "note": done.note, "diff": list(diff), "item": item_shape(item)}


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
