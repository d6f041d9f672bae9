"""`/api/v1/items`: the library's items."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.responses import Response

from pagekeep.capture.from_url import Request as Wanted
from pagekeep.doors.http.api import item_formats, models
from pagekeep.doors.http.api.models import FETCHING, failures
from pagekeep.doors.http.api.page_requests import Here
from pagekeep.doors.http.caller import Changes, Reads
from pagekeep.doors.http.responses import Json, answer
from pagekeep.library import change, items
from pagekeep.library.preview import preview_item
from pagekeep.library.reparse.reparse import reparse_one
from pagekeep.library.save import retry
from pagekeep.model import ItemQuery, Order, QualityLevel, item_filters
from pagekeep.present.diff import difference
from pagekeep.present.explain import explain
from pagekeep.present.json_shapes import item_shape, items_shape, page_shape, saved_shape, trace_shape

router = APIRouter(prefix="/api/v1", tags=["items"])
ItemId = Annotated[str, Path(max_length=100, description="The id, or the beginning of it.")]
Moment = Annotated[str | None, Query(pattern=r"^\d{4}(-\d{2}(-\d{2}(T[\d:.]+Z?)?)?)?$", examples=["2025-03-19"])]
Key = Annotated[str | None, Query(max_length=10_000, description="`next` of the page before.")]
_RECENT: Final = 200


@router.get("/items", response_model=models.Items, responses=failures())
def list_items(
    request: Request,
    library: Reads,
    domain: Annotated[str | None, Query(max_length=300)] = None,
    tag: Annotated[
        list[str] | None, Query(max_length=20, description="With several, those that have them all.")
    ] = None,
    pinned: bool | None = None,
    archived: Annotated[
        Literal["no", "yes", "any"] | None, Query(description="`no` unless deleted ones are listed.")
    ] = None,
    deleted: bool = False,
    quality: QualityLevel | None = None,
    saved_after: Moment = None,
    saved_before: Moment = None,
    order: Order = "saved",
    descending: Annotated[
        bool | None, Query(description="Newest first, or Z first; by title A first without it.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=_RECENT)] = 50,
    after: Key = None,
) -> Response:
    """A page of the library; without filters, of the inbox, newest first."""
    chosen = archived or ("any" if deleted else "no")
    filters = item_filters(
        domain=domain,
        tags=tuple(tag or ()),
        pinned=pinned,
        archived={"no": False, "yes": True, "any": None}[chosen],
        deleted=deleted,
        quality=quality,
        saved_after=saved_after,
        saved_before=saved_before,
    )
    falling = order != "title" if descending is None else descending
    query = ItemQuery(filters=filters, order=order, descending=falling, limit=limit, after=after)
    page = items.find_items(library, query)
    return answer(request, items_shape(page.items, page.next))


@router.get("/items/lookup", response_model=models.PerhapsAnItem, responses=failures())
def look_up(request: Request, library: Reads, url: Annotated[str, Query(max_length=8192)]) -> Response:
    """The item for an address in any form, if the page is in the library."""
    item = items.look_up_url(library, url)
    return answer(request, {"item": item_shape(item) if item is not None else None})


@router.post("/items/purge", response_model=models.Purged, responses=failures())
def purge_items(asked: models.AskedToPurge, library: Changes) -> Response:
    """Remove deleted items for good, with their pages."""
    return Json({"purged": change.purge_items(library, asked.ids)})


@router.get(
    "/items/{item_id}",
    response_model=models.OneWholeItem,
    responses={
        200: {
            "content": {
                kind: {"schema": {"type": "string"}} for kind in item_formats.TYPES.values() if "json" not in kind
            }
        },
        304: {"description": "It is as the client has it."},
        **failures(404, 406),
    },
)
def read_item(
    request: Request,
    item_id: ItemId,
    library: Reads,
    service: Here,
    format: Annotated[item_formats.Form | None, Query(description="Wins over the `Accept` header.")] = None,
) -> Response:
    """An item with what it says: as JSON, Markdown with frontmatter, clean HTML or text, by `Accept` or `format`."""
    form = format or item_formats.accepted(request.headers.get("accept"))
    item = items.get_item(library, item_id)
    return item_formats.written(request, item, form, service.renderer)


@router.patch("/items/{item_id}", response_model=models.OneItem, responses=failures(404, 412))
def change_item(
    item_id: ItemId,
    asked: models.Changes,
    library: Changes,
    if_match: Annotated[
        str | None, Header(description="Change it only if it is still what this `ETag` stands for.")
    ] = None,
) -> Response:
    """Pin, archive or tag an item, or note that it was read."""
    item = items.get_item(library, item_id)
    since = None if if_match is None else item_formats.still(item, if_match)
    item = change.change_item(
        library,
        item,
        pinned=asked.pinned,
        archived=asked.archived,
        tags=asked.tags,
        add=asked.add_tags,
        remove=asked.remove_tags,
        opened=bool(asked.opened),
        unchanged_since=since,
    )
    return Json({"item": item_shape(item)}, headers={"ETag": item_formats.tag(item, "json")})


@router.delete("/items/{item_id}", response_model=models.OneItem, responses=failures(404))
def delete_item(item_id: ItemId, library: Changes) -> Response:
    """Delete an item; it stays, and can be restored, until it is purged."""
    return Json({"item": item_shape(change.apply_action(library, "delete", item_id))})


@router.post("/items/{item_id}/restore", response_model=models.OneItem, responses=failures(404))
def restore_item(item_id: ItemId, library: Changes) -> Response:
    """Bring a deleted item back."""
    return Json({"item": item_shape(change.apply_action(library, "restore", item_id))})


@router.post("/items/{item_id}/retry", response_model=models.OneSavedItem, responses=failures(404, 409, *FETCHING))
async def retry_item(item_id: ItemId, asked: models.AskedToRetry, library: Changes, service: Here) -> Response:
    """Fetch and read an item anew; three times at most until it succeeds."""
    wanted = Wanted("", render=asked.render, wait_for=asked.wait_for)
    saved = await retry(item_id, library, service.retrieval, request=wanted)
    return Json({"item": saved_shape(saved)})


@router.post("/items/{item_id}/reparse", response_model=models.Reparsed, responses=failures(404))
async def reparse_item(item_id: ItemId, asked: models.AskedToReparse, library: Changes, service: Here) -> Response:
    """Read the page as it was kept again, by the parser and the rules of today. A worse reading replaces nothing."""
    done = await reparse_one(item_id, library, service.retrieval, force=asked.force, dry_run=asked.dry_run)
    item = await to_thread(items.get_item, library, done.item.id)
    diff = list(difference(done.item.content, done.content or done.item.content))
    return Json({"outcome": done.outcome, "note": done.note, "diff": diff, "item": item_shape(item)})


@router.get("/items/{item_id}/explanation", response_model=models.Explanation, responses=failures(404))
async def explain_item(item_id: ItemId, library: Reads, service: Here) -> Response:
    """How the item's content was found, from the page as it was kept."""
    page = await preview_item(item_id, library, service.retrieval)
    return Json({"explanation": explain(page), "trace": trace_shape(page), "page": page_shape(page)})
