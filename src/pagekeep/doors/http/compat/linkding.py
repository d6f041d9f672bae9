"""`/linkding`: the API of linkding, for its apps, extensions and command line, and for uploads of SingleFile.

`docs/dialects.md` lists the routes, and what differs."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path as FilePath
from typing import Annotated, Any, BinaryIO, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from pagekeep.capture.from_url import Request as CaptureRequest
from pagekeep.doors.http.caller import FORM_LIMITS, ReadCaller, ReadLibrary, WriteLibrary
from pagekeep.doors.http.compat.parameters import Parameters, SentParameters
from pagekeep.doors.http.observability import log_host
from pagekeep.doors.http.requests import PathRouter
from pagekeep.doors.http.responses import COPY_POLICY, Json, attachment
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.errors import InvalidQuery, NotFound, PagekeepError
from pagekeep.library.items import find
from pagekeep.library.items.change import MOVES, change_item
from pagekeep.library.items.find import tag_number
from pagekeep.library.open import Store
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.failed_saves import keep_bookmark
from pagekeep.library.saving.save import save, save_single_file
from pagekeep.model import Item, SaveResult
from pagekeep.model.lists import ItemChange
from pagekeep.model.tags import clean_tag

bookmarks_router = APIRouter(prefix="/api/bookmarks")
Number = Annotated[int, Path(ge=0, le=2**62)]
PER_PAGE: Final = 100
MAX_PER_PAGE: Final = 1_000
_MAX_NOTES: Final = 10_000


@bookmarks_router.get("/")
def list_bookmarks(request: Request, library: ReadLibrary, sent: SentParameters) -> Response:
    """List bookmarks that are not archived, or those that `q` finds."""
    return _list(request, library, sent, archived=False)


@bookmarks_router.get("/archived/")
def list_archived(request: Request, library: ReadLibrary, sent: SentParameters) -> Response:
    """List archived bookmarks."""
    return _list(request, library, sent, archived=True)


@bookmarks_router.get("/shared/")
def list_shared(request: Request, _library: ReadLibrary) -> Response:
    """Return an empty list: no bookmark is shared."""
    return Json(page([], 0, 0, PER_PAGE, f"{request.url.replace(query='')}?"))


@bookmarks_router.get("/check/")
def check_address(library: ReadLibrary, sent: SentParameters) -> Response:
    """Return the bookmark of an address, if there is one. Nothing is fetched."""
    url = sent.text("url")
    item = find.look_up_url(library, url) if url else None
    about = {"url": url, "title": item.title if item else None, "description": None, "preview_image": None}
    return Json({"bookmark": _one(library, item) if item else None, "metadata": about, "auto_tags": []})


@bookmarks_router.post("/")
async def add_bookmark(library: WriteLibrary, service: CurrentService, sent: SentParameters) -> Response:
    """Save a page; an existing one is updated. If it cannot be fetched, its address is kept, and that is the bookmark."""
    url = sent.text("url").strip()
    if not url:
        raise InvalidQuery("`url` is required.", suggestions=())
    log_host(url)
    try:
        saved = await save(SaveRequest(CaptureRequest(url), tuple(_tags(sent) or ())), library, service.retrieval)
        item = saved.item
        if saved.pictures_job is not None:
            service.background.nudge()
    except PagekeepError as error:
        if error.item_id is None:
            raise
        item = await run_in_threadpool(keep_bookmark, library, error.item_id)
    item = await run_in_threadpool(_change, library, item, sent, None)
    return Json(await run_in_threadpool(_one, library, item), 201)


@bookmarks_router.get("/{number}/")
def read_bookmark(number: Number, library: ReadLibrary) -> Response:
    """Return a bookmark."""
    return Json(_one(library, find.get_numbered(library, number)))


@bookmarks_router.put("/{number}/")
def replace_bookmark(number: Number, library: WriteLibrary, sent: SentParameters) -> Response:
    """Replace the tags and notes of a bookmark; what was not sent is removed."""
    item = find.get_numbered(library, number)
    return Json(
        _one(library, _change(library, item, sent, _tags(sent) or [], notes=sent.text("notes", max_chars=_MAX_NOTES)))
    )


@bookmarks_router.patch("/{number}/")
def change_bookmark(number: Number, library: WriteLibrary, sent: SentParameters) -> Response:
    """Change tags, notes or state of a bookmark; title, description and address come from the page, and stay."""
    return Json(_one(library, _change(library, find.get_numbered(library, number), sent, _tags(sent))))


@bookmarks_router.delete("/{number}/")
def delete_bookmark(number: Number, library: WriteLibrary) -> Response:
    """Move a bookmark to the trash."""
    change_item(library, find.get_numbered(library, number).id, MOVES["delete"])
    return Response(status_code=204)


@bookmarks_router.post("/{number}/archive/")
def archive_bookmark(number: Number, library: WriteLibrary) -> Response:
    """Archive a bookmark."""
    change_item(library, find.get_numbered(library, number).id, MOVES["archive"])
    return Response(status_code=204)


@bookmarks_router.post("/{number}/unarchive/")
def unarchive_bookmark(number: Number, library: WriteLibrary) -> Response:
    """Take a bookmark out of the archive."""
    change_item(library, find.get_numbered(library, number).id, MOVES["unarchive"])
    return Response(status_code=204)


def _list(request: Request, library: Store, sent: Parameters, *, archived: bool) -> Response:
    limit = sent.number("limit", PER_PAGE, low=1, high=MAX_PER_PAGE)
    offset = sent.number("offset", 0, low=0, high=10_000_000)
    text = sent.text("q", max_chars=1_000)
    found = find.search_slice(library, query(text, archived=archived), offset, limit)
    numbers = find.number_items(library, found.items)
    results = [bookmark(item, numbers[item.id]) for item in found.items if item.id in numbers]
    kept = urlencode({"q": text}) + "&" if text else ""
    address = f"{request.url.replace(query='')}?{kept}"
    return Json(page(results, found.total, offset, limit, address))


def _one(library: Store, item: Item) -> dict[str, Any]:
    return bookmark(item, find.number_items(library, [item])[item.id])


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
    return find.open_item(library, item.id) if opened else item


SINGLE_FILE: Final = "/api/bookmarks/singlefile/"
uploads_router = APIRouter()
_RAW: Final = 1
"""The number of the only file of a bookmark: the page as it was fetched or sent."""


@uploads_router.post(SINGLE_FILE)
async def save_file(request: Request, library: WriteLibrary, service: CurrentService) -> Response:
    """Save a page that SingleFile sends as `file`, under `url`; its pictures are kept."""
    async with request.form(**FORM_LIMITS) as form:
        url, file = form.get("url"), form.get("file")
        if not isinstance(url, str) or not url.strip():
            raise InvalidQuery("Both `file` and `url` are required.", suggestions=())
        await _save(file, url.strip()[:8_192], library, service)
    return Json({"message": "Snapshot uploaded successfully."}, 201)


@uploads_router.get("/api/bookmarks/{number}/assets/")
def list_assets(number: Number, library: ReadLibrary) -> Response:
    """List the files of a bookmark: its page, if it was kept."""
    item = find.get_numbered(library, number)
    assets = [_asset(item, number)] if find.get_raw(library, item.id) is not None else []
    return Json({"count": len(assets), "next": None, "previous": None, "results": assets})


@uploads_router.post("/api/bookmarks/{number}/assets/upload/")
async def upload_asset(number: Number, request: Request, library: WriteLibrary, service: CurrentService) -> Response:
    """Save the page of a bookmark that a browser sends as `file`."""
    item = await run_in_threadpool(find.get_numbered, library, number)
    async with request.form(**FORM_LIMITS) as form:
        await _save(form.get("file"), item.url_full, library, service)
    return Json(_asset(item, number), 201)


@uploads_router.get("/api/bookmarks/{number}/assets/{asset}/")
def read_asset(number: Number, asset: int, library: ReadLibrary) -> Response:
    """Return what is known of a file."""
    item = find.get_numbered(library, number)
    _raw(library, item, asset)
    return Json(_asset(item, number))


@uploads_router.get("/api/bookmarks/{number}/assets/{asset}/download/")
def download_asset(number: Number, asset: int, library: ReadLibrary) -> Response:
    """Return the page as it was fetched, as a download that runs nothing."""
    item = find.get_numbered(library, number)
    headers = {
        "Content-Disposition": attachment(item.title, "html"),
        "Content-Security-Policy": COPY_POLICY,
        "Content-Type": "text/html",
    }
    return Response(_raw(library, item, asset), headers=headers)


def _raw(library: Store, item: Item, asset: int) -> bytes:
    raw = find.get_raw(library, item.id) if asset == _RAW else None
    if raw is None:
        raise NotFound("There is no such file.")
    return raw.body


def _asset(item: Item, number: int) -> dict[str, Any]:
    return {
        "id": _RAW,
        "bookmark": number,
        "asset_type": "snapshot",
        "date_created": item.updated_at,
        "content_type": "text/html",
        "display_name": "Page as it was saved",
        "status": "complete",
    }


async def _save(file: object, url: str, library: Store, service: Service) -> SaveResult:
    if not isinstance(file, UploadFile):
        raise InvalidQuery("Both `file` and `url` are required.", suggestions=())
    log_host(url)
    with tempfile.TemporaryDirectory(prefix="pagekeep-upload-") as folder:
        path = FilePath(folder) / "page.html"
        await run_in_threadpool(_copy, file.file, path)
        saved = await save_single_file(path, url, library, service.retrieval)
    if saved.pictures_job is not None:
        service.background.nudge()
    return saved


def _copy(source: BinaryIO, target: FilePath) -> None:
    with target.open("wb") as out:
        shutil.copyfileobj(source, out)


others_router = APIRouter()


@others_router.get("/health")
async def show_health() -> Response:
    """Return the version of linkding whose API this is; clients ask before they sign in."""
    return Json({"version": VERSION, "status": "healthy"})


@others_router.get("/api/tags/")
def list_tags(request: Request, library: ReadLibrary, sent: SentParameters) -> Response:
    """List the tags in use; in lower case and without accents, as they are compared."""
    limit = sent.number("limit", PER_PAGE, low=1, high=MAX_PER_PAGE)
    offset = sent.number("offset", 0, low=0, high=10_000_000)
    tags = [label for label, _ in library.tags.counts()]
    shown = [tag(label) for label in tags[offset : offset + limit]]
    return Json(page(shown, len(tags), offset, limit, f"{request.url.replace(query='')}?"))


@others_router.post("/api/tags/")
def add_tag(_library: WriteLibrary, sent: SentParameters) -> Response:
    """Return the tag as if it was stored: a tag exists when a page has it. Some clients send its name as `example`."""
    name = clean_tag(sent.text("name", sent.text("example", max_chars=200), max_chars=200))
    if not name:
        raise InvalidQuery("`name` is required.", suggestions=())
    return Json(tag(name), 201)


@others_router.get("/api/tags/{number}/")
def read_tag(number: Annotated[int, Path(ge=0, le=2**62)], library: ReadLibrary) -> Response:
    """Return a tag in use."""
    labels = [label for label, _ in library.tags.counts() if find.tag_number(label) == number]
    if not labels:
        raise NotFound("There is no such tag.")
    return Json(tag(labels[0]))


@others_router.get("/api/user/profile/")
async def show_profile(_caller: ReadCaller) -> Response:
    """Return preferences that clients may ask for."""
    return Json(
        {
            "theme": "auto",
            "bookmark_date_display": "relative",
            "bookmark_link_target": "_blank",
            "web_archive_integration": "disabled",
            "tag_search": "lax",
            "enable_sharing": False,
            "enable_public_sharing": False,
            "enable_favicons": False,
            "display_url": False,
            "permanent_notes": False,
            "search_preferences": {"sort": "added_desc", "shared": "off", "unread": "off"},
            "version": VERSION,
        }
    )


@others_router.get("/api/bundles/")
async def list_bundles(_caller: ReadCaller) -> Response:
    """Return an empty list."""
    return Json({"count": 0, "next": None, "previous": None, "results": []})


VERSION: Final = "1.41.0"
"""The version of linkding whose API this is."""
_TAG: Final = re.compile(r"(?:^|(?<=\s))#(\S+)")
_STATE: Final = re.compile(r"(?:^|(?<=\s))!(?:unread|untagged)\b")


def bookmark(item: Item, number: int) -> dict[str, Any]:
    """Return an item as a bookmark."""
    known = item.metadata
    return {
        "id": number,
        "url": item.url,
        "title": item.title,
        "description": known.description or "",
        "notes": known.notes or "",
        "web_archive_snapshot_url": (known.link or {}).get("archived") or "",
        "favicon_url": known.favicon,
        "preview_image_url": known.hero_image,
        "is_archived": bool(known.archived),
        "unread": item.last_opened_at is None,
        "shared": False,
        "tag_names": list(known.tags),
        "date_added": item.saved_at,
        "date_modified": item.updated_at,
        "website_title": None,
        "website_description": None,
    }


def tag(label: str) -> dict[str, Any]:
    """Return a tag. When it was first used is not stored."""
    return {"id": tag_number(label), "name": label, "date_added": "1970-01-01T00:00:00.000000Z"}


def query(text: str, *, archived: bool) -> str:
    """Return a search of linkding in our query language: `#sea` is a tag; `!unread` and `!untagged` are ignored."""
    ours = _STATE.sub("", _TAG.sub(lambda found: f'tag:"{found[1]}"', text))
    return f"{ours} {'' if archived else '-'}is:archived".strip()


def page(results: list[dict[str, Any]], total: int, offset: int, limit: int, address: str) -> dict[str, Any]:
    """Return a part of a list; `address` is its URL without limit and offset."""
    after, before = offset + limit, max(0, offset - limit)
    return {
        "count": total,
        "next": f"{address}limit={limit}&offset={after}" if after < total else None,
        "previous": f"{address}limit={limit}&offset={before}" if offset > 0 else None,
        "results": results,
    }


PREFIX: Final = "/linkding"
UPLOADS: Final = f"{PREFIX}{SINGLE_FILE}"
router = PathRouter(f"{PREFIX}/", prefix=PREFIX, include_in_schema=False)
for _part in (others_router, uploads_router, bookmarks_router):
    router.include_router(_part)
