"""`/opds/books`, `periodicals` and `covers`: what the feeds link to."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from pagekeep import clock
from pagekeep.doors.http.caller import ReadLibrary
from pagekeep.doors.http.compat.file_names import attachment
from pagekeep.doors.http.compat.opds.catalogue import LISTS, METHODS, list_filters
from pagekeep.doors.http.compat.opds.mapping import EPUB
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import NotFound
from pagekeep.library import items
from pagekeep.library.exports.item_book import MAX_ITEMS, build_item_book, build_periodical, draw_cover
from pagekeep.library.lists.lists import get_list, list_page
from pagekeep.library.open import Store
from pagekeep.library.pictures.kept import find_picture
from pagekeep.model import Item, ItemQuery, item_filters

router = APIRouter(prefix="/opds")
_SHOWN: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


@router.api_route("/books/{item_id}.epub", methods=METHODS)
async def read_book(
    item_id: Annotated[str, Path(max_length=40)], library: ReadLibrary, service: CurrentService
) -> Response:
    """Return a page as an EPUB."""
    item = await run_in_threadpool(_get, library, item_id)
    return _file(await build_item_book(library, item, service.room), item.title)


@router.api_route("/periodicals/{name}.epub", methods=METHODS)
async def read_periodical(
    name: Annotated[str, Path(max_length=20)],
    library: ReadLibrary,
    service: CurrentService,
    tag: Annotated[str, Query(max_length=200)] = "",
    list_id: Annotated[str, Query(alias="list", max_length=100)] = "",
) -> Response:
    """Return a list (`week`, `inbox`, `pinned`, `archive`), the pages with a `tag`, or an own `list`, as one EPUB."""
    subject, found = await run_in_threadpool(_find_pages, library, name, tag, list_id)
    title = f"{subject}, {clock.now()[:10]}"
    return _file(await build_periodical(library, found, title, service.room), title)


@router.api_route("/periodicals/{name}.jpg", methods=METHODS)
async def show_periodical_cover(
    name: Annotated[str, Path(max_length=20)],
    library: ReadLibrary,
    service: CurrentService,
    tag: Annotated[str, Query(max_length=200)] = "",
    list_id: Annotated[str, Query(alias="list", max_length=100)] = "",
) -> Response:
    """Return the cover of a list."""
    title = tag if name == "tag" and tag else LISTS.get(name)
    if name == "list":
        title = (await run_in_threadpool(get_list, library, list_id)).name
    if title is None:
        raise NotFound("There is no such list.")
    return Response(await draw_cover(title, (), service.room), media_type="image/jpeg")


def _find_pages(library: Store, name: str, tag: str, list_id: str) -> tuple[str, tuple[Item, ...]]:
    """Return the name of a list and its pages, as many as one book may have."""
    if name == "list":
        own = get_list(library, list_id)
        return own.name, list_page(library, own, limit=MAX_ITEMS).items
    by_tag = name == "tag" and bool(tag)
    filters = item_filters(tags=(tag,)) if by_tag else list_filters(name)
    page = items.find_items(library, ItemQuery(filters=filters, limit=MAX_ITEMS))
    return tag if by_tag else LISTS[name], page.items


@router.api_route("/covers/{item_id}.jpg", methods=METHODS)
async def show_cover(
    item_id: Annotated[str, Path(max_length=40)], library: ReadLibrary, service: CurrentService
) -> Response:
    """Return the kept main picture of a page, small, or a cover with its title."""
    item = await run_in_threadpool(_get, library, item_id)
    url = item.metadata.hero_image
    kept = await run_in_threadpool(find_picture, library, url, small=True) if url else None
    if kept is not None and kept.media_type in _SHOWN:
        return Response(kept.data, media_type=kept.media_type)
    return Response(await draw_cover(item.title, (item.domain,), service.room), media_type="image/jpeg")


def _get(library: Store, key: str) -> Item:
    item = items.get_item(library, key) if "." not in key and "/" not in key else None
    if item is None or item.deleted_at is not None:
        raise NotFound("There is no such page.")
    return item


def _file(data: bytes, title: str) -> Response:
    return Response(data, media_type=EPUB, headers={"Content-Disposition": attachment(title, "epub")})
