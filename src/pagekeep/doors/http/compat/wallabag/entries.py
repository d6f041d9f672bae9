"""`/wallabag/api/entries`: list, add, change and delete entries."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from pagekeep.capture.from_url import Request as CaptureRequest
from pagekeep.capture.uploads import sent_page
from pagekeep.doors.http.caller import ReadCaller, ReadLibrary, WriteLibrary
from pagekeep.doors.http.compat.parameters import Parameters, SentParameters
from pagekeep.doors.http.compat.wallabag import mapping
from pagekeep.doors.http.observability.logs import log_host
from pagekeep.doors.http.responses import Json
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.errors import InvalidQuery, NotAllowed, NotFound, PagekeepError
from pagekeep.library import items
from pagekeep.library.actions import MOVES, change_item
from pagekeep.library.annotations import annotations_of
from pagekeep.library.failed_saves import keep_bookmark
from pagekeep.library.items import ItemSlice
from pagekeep.library.open import Store
from pagekeep.library.save import refetch_item, save
from pagekeep.model import Item
from pagekeep.model.lists.values import ItemChange
from pagekeep.model.tags import clean_tags
from pagekeep.present.sections import body_of

router = APIRouter(prefix="/api")
Number = Annotated[int, Path(ge=0, le=2**62)]
_PER_PAGE: Final = 30
_MAX_FULL: Final = 100
"""Entries with content on a page."""
_MAX_METADATA: Final = 10_000
"""Entries without content on a page: some programs ask for all at once."""


@router.get("/entries")
async def list_entries(
    request: Request, library: ReadLibrary, caller: ReadCaller, service: CurrentService, sent: SentParameters
) -> Response:
    """List entries, newest first."""
    whole = sent.text("detail", "full") != "metadata"
    page, limit = _paging(sent, _MAX_FULL if whole else _MAX_METADATA)
    query = mapping.list_query(sent)

    def find() -> ItemSlice:
        return items.find_slice(library, query, (page - 1) * limit, limit) if query is not None else ItemSlice((), 0)

    return await _page(request, find, page, limit, _Shown(library, service, caller.name, whole))


@router.get("/search")
async def search_entries(
    request: Request, library: ReadLibrary, caller: ReadCaller, service: CurrentService, sent: SentParameters
) -> Response:
    """Find entries by words."""
    term = sent.text("term", max_chars=1_000)
    page, limit = _paging(sent, _MAX_FULL)

    def find() -> ItemSlice:
        return items.search_slice(library, term, (page - 1) * limit, limit) if term.strip() else ItemSlice((), 0)

    return await _page(request, find, page, limit, _Shown(library, service, caller.name))


@router.get("/entries/exists")
def entry_exists(library: ReadLibrary, sent: SentParameters) -> Response:
    """Tell whether addresses are in the library: by `url` or its SHA-1 in `hashed_url`, or lists of these."""
    urls, hashes = sent.values("urls"), sent.values("hashed_urls")
    by_id = bool(sent.flag("return_id"))
    if urls or hashes:
        found = {url: _number_of(library, url) for url in urls}
        by_hash = items.find_hashed(library, hashes) if hashes else {}
        found |= {value: by_hash.get(value.lower()) for value in hashes}
        return Json({key: value if by_id else value is not None for key, value in found.items()})
    url, value = sent.text("url"), sent.text("hashed_url", max_chars=100)
    if not url and not value:
        raise NotAllowed("An address is required: `url`, `hashed_url`, `urls` or `hashed_urls`.")
    one = _number_of(library, url) if url else items.find_hashed(library, [value]).get(value.lower())
    return Json({"exists": one if by_id else one is not None})


@router.post("/entries")
async def add_entry(
    library: WriteLibrary, caller: ReadCaller, service: CurrentService, sent: SentParameters
) -> Response:
    """Save a page, or with `content` the sent one. If it cannot be fetched, its address is kept, and that is the entry."""
    url = sent.text("url").strip()
    if not url:
        raise InvalidQuery("`url` is required.", suggestions=())
    log_host(url)
    tags = clean_tags((sent.list("tags") or ())[:100])
    content = sent.text("content", max_chars=10_000_000)
    uploaded = sent_page(url, _document(sent, content)) if content else None
    try:
        saved = await save(CaptureRequest(url), library, service.retrieval, tags=tags, uploaded=uploaded)
        item = saved.item
        if saved.pictures_job is not None:
            service.background.nudge()
    except PagekeepError as error:
        if error.item_id is None:
            raise
        item = await run_in_threadpool(keep_bookmark, library, error.item_id)
    item = await run_in_threadpool(_set_flags, library, item, sent)
    return await _one(library, service, item, caller.name)


@router.get("/entries/{number}")
async def read_entry(number: Number, library: ReadLibrary, caller: ReadCaller, service: CurrentService) -> Response:
    """Return an entry."""
    item = await run_in_threadpool(items.get_numbered, library, number)
    return await _one(library, service, item, caller.name)


@router.patch("/entries/{number}")
async def change_entry(
    number: Number, library: WriteLibrary, caller: ReadCaller, service: CurrentService, sent: SentParameters
) -> Response:
    """Archive or star an entry, or replace its tags; what else wallabag can change is ignored."""
    item = await run_in_threadpool(items.get_numbered, library, number)
    item = await run_in_threadpool(_set_flags, library, item, sent, sent.list("tags") or None)
    return await _one(library, service, item, caller.name)


@router.delete("/entries/{number}")
async def delete_entry(
    number: Number, library: WriteLibrary, caller: ReadCaller, service: CurrentService, sent: SentParameters
) -> Response:
    """Move an entry to the trash."""
    item = await run_in_threadpool(items.get_numbered, library, number)
    await run_in_threadpool(change_item, library, item.id, MOVES["delete"])
    if sent.text("expect") == "id":
        return Json({"id": number})
    return await _one(library, service, item, caller.name)


@router.patch("/entries/{number}/reload")
async def reload_entry(number: Number, library: WriteLibrary, caller: ReadCaller, service: CurrentService) -> Response:
    """Fetch the page of an entry again; 304 when that fails or gives nothing new."""
    item = await run_in_threadpool(items.get_numbered, library, number)
    try:
        saved = await refetch_item(item, library, service.retrieval)
    except PagekeepError:
        return Response(status_code=304)
    if saved.unchanged or saved.outcome == "kept":
        return Response(status_code=304)
    return await _one(library, service, saved.item, caller.name)


class _Shown:
    """How the entries of a list are shown."""

    def __init__(self, library: Store, service: Service, user: str, whole: bool = True) -> None:
        self.library = library
        self.service = service
        self.user = user
        self.whole = whole

    async def read(self, find: Callable[[], ItemSlice]) -> tuple[ItemSlice, list[dict[str, Any]]]:
        """Return the items that are found, and each as an entry."""
        found, entries = await run_in_threadpool(self._read, find)
        if self.whole:
            texts = [(body_of(item.content), item.url, item.title) for item in found.items]
            for one, html in zip(entries, await self.service.renderer.render_many(texts), strict=True):
                one["content"] = html
        return found, entries

    def _read(self, find: Callable[[], ItemSlice]) -> tuple[ItemSlice, list[dict[str, Any]]]:
        """Return the items that have a number, and their entries without content."""
        found = find()
        known, marks = items.number_items(self.library, found.items), annotations_of(self.library, found.items)
        shown = tuple(item for item in found.items if item.id in known)
        entries = [mapping.entry(item, known[item.id], marks.get(item.id, ()), self.user, None) for item in shown]
        return ItemSlice(shown, found.total), entries


def _paging(sent: Parameters, most: int) -> tuple[int, int]:
    """Return the number of the page and its size; 0 means the usual size."""
    limit = sent.number("perPage", _PER_PAGE, low=0, high=most) or _PER_PAGE
    return sent.number("page", 1, low=1, high=1_000_000), limit


async def _page(request: Request, find: Callable[[], ItemSlice], page: int, limit: int, shown: _Shown) -> Response:
    found, entries = await shown.read(find)
    if page > 1 and (page - 1) * limit >= found.total:
        raise NotFound("There is no such page.")  # clients go on until they get this
    query = [(name, value) for name, value in request.query_params.multi_items() if name not in ("page", "perPage")]
    address = f"{request.url.replace(query='')}?{urlencode([*query, ('perPage', limit)])}"
    return Json(mapping.envelope(found.total, entries, page, limit, address))


async def _one(library: Store, service: Service, item: Item, user: str) -> Response:
    _, entries = await _Shown(library, service, user).read(lambda: ItemSlice((item,), 1))
    return Json(entries[0])


def _number_of(library: Store, url: str) -> int | None:
    try:
        item = items.look_up_url(library, url)
    except PagekeepError:  # not an address
        return None
    return items.number_items(library, [item]).get(item.id) if item is not None else None


def _set_flags(library: Store, item: Item, sent: Parameters, tags: list[str] | None = None) -> Item:
    new_tags = tuple(tags[:100]) if tags else None
    change = ItemChange(pinned=sent.flag("starred"), archived=sent.flag("archive"), tags=new_tags)
    return change_item(library, item.id, change)


def _document(sent: Parameters, content: str) -> str:
    """Return the content that a client sent as a page, with what it says about it in the head."""
    head = {
        "author": ", ".join(sent.list("authors") or ()),
        "og:image": sent.text("preview_picture"),
        "article:published_time": sent.text("published_at"),
    }
    metas = "".join(
        f'<meta {"name" if name == "author" else "property"}="{name}" content="{escape(value)}">'
        for name, value in head.items()
        if value
    )
    title, language = escape(sent.text("title")), escape(sent.text("language", max_chars=20))
    titles = f"<title>{title}</title>" if title else ""
    body = f"<body><main><article>{f'<h1>{title}</h1>' if title else ''}{content}</article></main></body>"
    return f"<!doctype html><html{f' lang={language!r}' if language else ''}><head>{titles}{metas}</head>{body}</html>"
