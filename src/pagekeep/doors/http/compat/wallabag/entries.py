"""`/wallabag/api/entries`, `tags` and `annotations`: entries, their export as files, their tags and their highlights."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from html import escape
from typing import Annotated, Any, Final
from urllib.parse import urlencode
from xml.sax.saxutils import escape as escape_xml

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from pagekeep.capture.from_url import Request as CaptureRequest
from pagekeep.capture.uploads import sent_page
from pagekeep.doors.http.caller import ReadCaller, ReadLibrary, WriteLibrary
from pagekeep.doors.http.compat.parameters import Parameters, SentParameters
from pagekeep.doors.http.compat.wallabag import mapping
from pagekeep.doors.http.observability import log_host
from pagekeep.doors.http.responses import Json, attachment
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.errors import InvalidQuery, NotAllowed, NotFound, NotOffered, PagekeepError
from pagekeep.library.archive.copies import read_copy
from pagekeep.library.exports.item_book import build_item_book
from pagekeep.library.items import find
from pagekeep.library.items.annotations import (
    annotate,
    annotations_of,
    edit_annotation,
    get_annotations,
    get_numbered_annotation,
    remove_annotation,
)
from pagekeep.library.items.change import MOVES, change_item
from pagekeep.library.items.find import ItemSlice
from pagekeep.library.items.tags import delete_tag as delete_everywhere
from pagekeep.library.open import Store
from pagekeep.library.queue import SaveRequest
from pagekeep.library.saving.failed_saves import keep_bookmark
from pagekeep.library.saving.save import refetch_item, save
from pagekeep.model import Item
from pagekeep.model.lists import ItemChange
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

    def read() -> ItemSlice:
        return find.find_slice(library, query, (page - 1) * limit, limit) if query is not None else ItemSlice((), 0)

    return await _page(request, read, page, limit, _Shown(library, service, caller.name, whole))


@router.get("/search")
async def search_entries(
    request: Request, library: ReadLibrary, caller: ReadCaller, service: CurrentService, sent: SentParameters
) -> Response:
    """Find entries by words."""
    term = sent.text("term", max_chars=1_000)
    page, limit = _paging(sent, _MAX_FULL)

    def read() -> ItemSlice:
        return find.search_slice(library, term, (page - 1) * limit, limit) if term.strip() else ItemSlice((), 0)

    return await _page(request, read, page, limit, _Shown(library, service, caller.name))


@router.get("/entries/exists")
def entry_exists(library: ReadLibrary, sent: SentParameters) -> Response:
    """Tell whether addresses are in the library: by `url` or its SHA-1 in `hashed_url`, or lists of these."""
    urls, hashes = sent.values("urls"), sent.values("hashed_urls")
    by_id = bool(sent.flag("return_id"))
    if urls or hashes:
        found = {url: _number_of(library, url) for url in urls}
        by_hash = find.find_hashed(library, hashes) if hashes else {}
        found |= {value: by_hash.get(value.lower()) for value in hashes}
        return Json({key: value if by_id else value is not None for key, value in found.items()})
    url, value = sent.text("url"), sent.text("hashed_url", max_chars=100)
    if not url and not value:
        raise NotAllowed("An address is required: `url`, `hashed_url`, `urls` or `hashed_urls`.")
    one = _number_of(library, url) if url else find.find_hashed(library, [value]).get(value.lower())
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
        saved = await save(SaveRequest(CaptureRequest(url), tags, uploaded=uploaded), library, service.retrieval)
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
    item = await run_in_threadpool(find.get_numbered, library, number)
    return await _one(library, service, item, caller.name)


@router.patch("/entries/{number}")
async def change_entry(
    number: Number, library: WriteLibrary, caller: ReadCaller, service: CurrentService, sent: SentParameters
) -> Response:
    """Archive or star an entry, or replace its tags; what else wallabag can change is ignored."""
    item = await run_in_threadpool(find.get_numbered, library, number)
    item = await run_in_threadpool(_set_flags, library, item, sent, sent.list("tags") or None)
    return await _one(library, service, item, caller.name)


@router.delete("/entries/{number}")
async def delete_entry(
    number: Number, library: WriteLibrary, caller: ReadCaller, service: CurrentService, sent: SentParameters
) -> Response:
    """Move an entry to the trash."""
    item = await run_in_threadpool(find.get_numbered, library, number)
    await run_in_threadpool(change_item, library, item.id, MOVES["delete"])
    if sent.text("expect") == "id":
        return Json({"id": number})
    return await _one(library, service, item, caller.name)


@router.patch("/entries/{number}/reload")
async def reload_entry(number: Number, library: WriteLibrary, caller: ReadCaller, service: CurrentService) -> Response:
    """Fetch the page of an entry again; 304 when that fails or gives nothing new."""
    item = await run_in_threadpool(find.get_numbered, library, number)
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

    async def read(self, read: Callable[[], ItemSlice]) -> tuple[ItemSlice, list[dict[str, Any]]]:
        """Return the items that are found, and each as an entry."""
        found, entries = await run_in_threadpool(self._read, read)
        if self.whole:
            texts = [(body_of(item.content), item.url, item.title) for item in found.items]
            for one, html in zip(entries, await self.service.renderer.render_many(texts), strict=True):
                one["content"] = html
        return found, entries

    def _read(self, read: Callable[[], ItemSlice]) -> tuple[ItemSlice, list[dict[str, Any]]]:
        """Return the items that have a number, and their entries without content."""
        found = read()
        known, marks = find.number_items(self.library, found.items), annotations_of(self.library, found.items)
        shown = tuple(item for item in found.items if item.id in known)
        entries = [mapping.entry(item, known[item.id], marks.get(item.id, ()), self.user, None) for item in shown]
        return ItemSlice(shown, found.total), entries


def _paging(sent: Parameters, most: int) -> tuple[int, int]:
    """Return the number of the page and its size; 0 means the usual size."""
    limit = sent.number("perPage", _PER_PAGE, low=0, high=most) or _PER_PAGE
    return sent.number("page", 1, low=1, high=1_000_000), limit


async def _page(request: Request, read: Callable[[], ItemSlice], page: int, limit: int, shown: _Shown) -> Response:
    found, entries = await shown.read(read)
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
        item = find.look_up_url(library, url)
    except PagekeepError:  # not an address
        return None
    return find.number_items(library, [item]).get(item.id) if item is not None else None


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


_TYPES: Final = {
    "epub": "application/epub+zip",
    "pdf": "application/pdf",
    "txt": "text/plain; charset=utf-8",
    "csv": "application/csv",
    "json": "application/json",
    "xml": "application/xml",
}
_CSV: Final = ("id", "title", "url", "content", "tags", "mimetype", "language", "created_at")


@router.get("/entries/{number}/export.{format}")
async def export_entry(
    number: Number, format: str, library: ReadLibrary, caller: ReadCaller, service: CurrentService
) -> Response:
    """Return an entry as a file: an EPUB with its pictures, a kept PDF of the page, text, CSV, JSON or XML."""
    if format not in _TYPES:
        raise NotFound(f"There is no export as {format:.20}.")
    item = await run_in_threadpool(find.get_numbered, library, number)
    headers = {"Content-Disposition": attachment(item.title, format)}
    if format == "epub":
        data: bytes | str = await build_item_book(library, item, service.room)
    elif format == "pdf":
        data = await run_in_threadpool(_pdf, library, item)
    elif format == "txt":
        data = f"{item.title}\n{item.url}\n\n{body_of(item.content)}"
    else:
        rendered = await service.renderer.render(body_of(item.content), base=item.url, title=item.title)
        marks = await run_in_threadpool(get_annotations, library, item.id)
        data = _write(format, mapping.entry(item, number, marks, caller.name, rendered.html))
    body = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    return Response(body, media_type=_TYPES[format], headers=headers)


def _pdf(library: Store, item: Item) -> bytes:
    try:
        return read_copy(library, item.id, "pdf")
    except NotFound:
        raise NotOffered(
            "No PDF of this page is kept.", suggestions=("Ask for one on the page of the item.",)
        ) from None


def _write(format: str, entry: dict[str, Any]) -> str:
    if format == "json":
        return json.dumps([entry], ensure_ascii=False)
    if format == "csv":
        out = io.StringIO()
        writer = csv.writer(out, delimiter=";")
        writer.writerow(_CSV)
        tags = ", ".join(tag["label"] for tag in entry["tags"])
        cells = [tags if name == "tags" else str(entry[name] or "") for name in _CSV]
        # Spreadsheets must not take a cell for a formula.
        writer.writerow(f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell for cell in cells)
        return out.getvalue()
    fields = "".join(_element(name, value) for name, value in entry.items() if not name.startswith("_"))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<entries><entry>{fields}</entry></entries>\n'


def _element(name: str, value: Any) -> str:
    if isinstance(value, list):
        inner = "".join(_element("item", each) for each in value)
    elif isinstance(value, dict):
        inner = "".join(_element(key, each) for key, each in value.items())
    else:
        text = "" if value is None else str(value)
        inner = escape_xml("".join(char for char in text if char >= " " or char in "\t\n\r"))
    return f"<{name}>{inner}</{name}>"


TagNumber = Annotated[int, Path(ge=0, le=2**62)]


@router.get("/tags")
def list_tags(library: ReadLibrary) -> Response:
    """List the tags in use; in lower case and without accents, as they are compared."""
    return Json([{**mapping.tag(label), "nbEntries": count} for label, count in library.tags.counts()])


@router.delete("/tag/label")
@router.delete("/tags/label")
def delete_tags_by_label(library: WriteLibrary, sent: SentParameters) -> Response:
    """Remove a tag (`tag`) or several (`tags`) from all entries."""
    labels = [*(sent.list("tag") or ()), *(sent.list("tags") or ())]
    removed = [label for label in labels[:100] if _delete(library, label)]
    if not removed:
        raise NotFound("There is no such tag.")
    return Json(mapping.tag(removed[0]) if "tag" in sent else [mapping.tag(label) for label in removed])


@router.delete("/tags/{tag}")
def delete_tag(tag: TagNumber, library: WriteLibrary) -> Response:
    """Remove a tag from all entries."""
    label = _label(library, tag)
    _delete(library, label)
    return Json(mapping.tag(label))


@router.get("/entries/{number}/tags")
def list_entry_tags(number: Number, library: ReadLibrary) -> Response:
    """List the tags of an entry."""
    return Json([mapping.tag(label) for label in find.get_numbered(library, number).metadata.tags])


@router.post("/entries/{number}/tags")
async def add_entry_tags(
    number: Number, library: WriteLibrary, caller: ReadCaller, service: CurrentService, sent: SentParameters
) -> Response:
    """Add tags to an entry."""
    item = await run_in_threadpool(find.get_numbered, library, number)
    change = ItemChange(add_tags=tuple((sent.list("tags") or [])[:100]))
    item = await run_in_threadpool(change_item, library, item.id, change)
    return await _one(library, service, item, caller.name)


@router.delete("/entries/{number}/tags/{tag}")
async def delete_entry_tag(
    number: Number, tag: TagNumber, library: WriteLibrary, caller: ReadCaller, service: CurrentService
) -> Response:
    """Remove a tag from an entry."""
    item = await run_in_threadpool(find.get_numbered, library, number)
    labels = tuple(label for label in item.metadata.tags if find.tag_number(label) == tag)
    if not labels:
        raise NotFound("The entry has no such tag.")
    item = await run_in_threadpool(change_item, library, item.id, ItemChange(remove_tags=labels))
    return await _one(library, service, item, caller.name)


def _delete(library: Store, label: str) -> bool:
    """Remove a tag from all entries; return whether any had it."""
    try:
        delete_everywhere(library, label)
    except NotFound:
        return False
    return True


def _label(library: Store, number: int) -> str:
    labels = [label for label, _ in library.tags.counts() if find.tag_number(label) == number]
    if len(labels) != 1:
        raise NotFound("There is no such tag.")
    return labels[0]


annotations_router = APIRouter(prefix="/api/annotations")
_MAX_CHARS = 10_000


@annotations_router.get("/{number}")
def list_annotations(number: Number, library: ReadLibrary) -> Response:
    """List the annotations of an entry."""
    rows = [mapping.annotation(one) for one in get_annotations(library, find.get_numbered(library, number).id)]
    return Json({"total": len(rows), "rows": rows})


@annotations_router.post("/{number}")
def add_annotation(number: Number, library: WriteLibrary, sent: SentParameters) -> Response:
    """Highlight a quote of an entry; where it is, `ranges`, is found by its words."""
    item = find.get_numbered(library, number)
    quote, note = sent.text("quote", max_chars=_MAX_CHARS), sent.text("text", max_chars=_MAX_CHARS)
    if not quote.strip() and not note.strip():
        raise InvalidQuery("`quote` or `text` is required.", suggestions=())
    made = annotate(library, item.id, quote, note=note)
    return Json({**mapping.annotation(made), "ranges": sent.raw("ranges")})


@annotations_router.put("/{number}")
def change_annotation(number: Number, library: WriteLibrary, sent: SentParameters) -> Response:
    """Change the text of an annotation."""
    old = get_numbered_annotation(library, number)
    changed = edit_annotation(library, old.item_id, old.id, note=sent.text("text", old.note, max_chars=_MAX_CHARS))
    return Json(mapping.annotation(changed))


@annotations_router.delete("/{number}")
def delete_annotation(number: Number, library: WriteLibrary) -> Response:
    """Delete an annotation."""
    old = get_numbered_annotation(library, number)
    remove_annotation(library, old.item_id, old.id)
    return Json(mapping.annotation(old))
