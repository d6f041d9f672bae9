"""`/linkding/api/bookmarks/`: list, add, change and delete bookmarks."""

from __future__ import annotations

from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from pagekeep.capture.from_url import Request as CaptureRequest
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.compat.linkding import mapping
from pagekeep.doors.http.compat.parameters import Parameters, SentParameters
from pagekeep.doors.http.observability.logs import log_host
from pagekeep.doors.http.responses import Json
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import InvalidQuery, PagekeepError
from pagekeep.library import items
from pagekeep.library.actions import MOVES, change_item
from pagekeep.library.failed_saves import keep_bookmark
from pagekeep.library.open import Store
from pagekeep.library.save import save
from pagekeep.model import Item
from pagekeep.model.lists.values import ItemChange

router = APIRouter(prefix="/api/bookmarks")
Number = Annotated[int, Path(ge=0, le=2**62)]
PER_PAGE: Final = 100
MAX_PER_PAGE: Final = 1_000
_MAX_NOTES: Final = 10_000


@router.get("/")
def list_bookmarks(request: Request, library: ReadLibrary, sent: SentParameters) -> Response:
    """List bookmarks that are not archived, or those that `q` finds."""
    return _list(request, library, sent, archived=False)


@router.get("/archived/")
def list_archived(request: Request, library: ReadLibrary, sent: SentParameters) -> Response:
    """List archived bookmarks."""
    return _list(request, library, sent, archived=True)


@router.get("/shared/")
def list_shared(request: Request, _library: ReadLibrary) -> Response:
    """Return an empty list: no bookmark is shared."""
    return Json(mapping.page([], 0, 0, PER_PAGE, f"{request.url.replace(query='')}?"))


@router.get("/check/")
def check_address(library: ReadLibrary, sent: SentParameters) -> Response:
    """Return the bookmark of an address, if there is one. Nothing is fetched."""
    url = sent.text("url")
    item = items.look_up_url(library, url) if url else None
    about = {"url": url, "title": item.title if item else None, "description": None, "preview_image": None}
    return Json({"bookmark": _one(library, item) if item else None, "metadata": about, "auto_tags": []})


@router.post("/")
async def add_bookmark(library: WriteLibrary, service: CurrentService, sent: SentParameters) -> Response:
    """Save a page; an existing one is updated. If it cannot be fetched, its address is kept, and that is the bookmark."""
    url = sent.text("url").strip()
    if not url:
        raise InvalidQuery("`url` is required.", suggestions=())
    log_host(url)
    try:
        saved = await save(CaptureRequest(url), library, service.retrieval, tags=tuple(_tags(sent) or ()))
        item = saved.item
        if saved.pictures_job is not None:
            service.background.nudge()
    except PagekeepError as error:
        if error.item_id is None:
            raise
        item = await run_in_threadpool(keep_bookmark, library, error.item_id)
    item = await run_in_threadpool(_change, library, item, sent, None)
    return Json(await run_in_threadpool(_one, library, item), 201)


@router.get("/{number}/")
def read_bookmark(number: Number, library: ReadLibrary) -> Response:
    """Return a bookmark."""
    return Json(_one(library, items.get_numbered(library, number)))


@router.put("/{number}/")
def replace_bookmark(number: Number, library: WriteLibrary, sent: SentParameters) -> Response:
    """Replace the tags and notes of a bookmark; what was not sent is removed."""
    item = items.get_numbered(library, number)
    return Json(
        _one(library, _change(library, item, sent, _tags(sent) or [], notes=sent.text("notes", max_chars=_MAX_NOTES)))
    )


@router.patch("/{number}/")
def change_bookmark(number: Number, library: WriteLibrary, sent: SentParameters) -> Response:
    """Change tags, notes or state of a bookmark; title, description and address come from the page, and stay."""
    return Json(_one(library, _change(library, items.get_numbered(library, number), sent, _tags(sent))))


@router.delete("/{number}/")
def delete_bookmark(number: Number, library: WriteLibrary) -> Response:
    """Move a bookmark to the trash."""
    change_item(library, items.get_numbered(library, number).id, MOVES["delete"])
    return Response(status_code=204)


@router.post("/{number}/archive/")
def archive_bookmark(number: Number, library: WriteLibrary) -> Response:
    """Archive a bookmark."""
    change_item(library, items.get_numbered(library, number).id, MOVES["archive"])
    return Response(status_code=204)


@router.post("/{number}/unarchive/")
def unarchive_bookmark(number: Number, library: WriteLibrary) -> Response:
    """Take a bookmark out of the archive."""
    change_item(library, items.get_numbered(library, number).id, MOVES["unarchive"])
    return Response(status_code=204)


def _list(request: Request, library: Store, sent: Parameters, *, archived: bool) -> Response:
    limit = sent.number("limit", PER_PAGE, low=1, high=MAX_PER_PAGE)
    offset = sent.number("offset", 0, low=0, high=10_000_000)
    text = sent.text("q", max_chars=1_000)
    found = items.search_slice(library, mapping.query(text, archived=archived), offset, limit)
    numbers = items.number_items(library, found.items)
    results = [mapping.bookmark(item, numbers[item.id]) for item in found.items if item.id in numbers]
    kept = urlencode({"q": text}) + "&" if text else ""
    address = f"{request.url.replace(query='')}?{kept}"
    return Json(mapping.page(results, found.total, offset, limit, address))


def _one(library: Store, item: Item) -> dict[str, Any]:
    return mapping.bookmark(item, items.number_items(library, [item])[item.id])


def _tags(sent: Parameters) -> list[str] | None:
    if "tag_names" not in sent and not sent.values("tag_names"):
        return [] if sent.has("tag_names") else None
    return list(sent.values("tag_names")[:100])


def _change(library: Store, item: Item, sent: Parameters, tags: list[str] | None, *, notes: str | None = None) -> Item:
    if notes is None and "notes" in sent:
        notes = sent.text("notes", max_chars=_MAX_NOTES)
    new_tags = None if tags is None else tuple(tags)
    change = ItemChange(archived=sent.flag("is_archived"), tags=new_tags, notes=notes)
    opened = sent.flag("unread") is False and item.last_opened_at is None
    item = change_item(library, item.id, change)
    return items.open_item(library, item.id) if opened else item
