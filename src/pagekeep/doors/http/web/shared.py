"""`/shared/{secret}`: lists and searches as full-text feeds. The address itself is the key to them."""

from __future__ import annotations

import hashlib
import hmac
from asyncio import to_thread
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Annotated, Final, Literal
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from pagekeep import clock
from pagekeep.capture.pictures import SVG_TYPE
from pagekeep.doors.http.responses import has_etag
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.identity import accounts
from pagekeep.library.archive.pictures import find_picture, list_pictures, normal_source
from pagekeep.library.items import lists
from pagekeep.library.open import Store
from pagekeep.model import Item, ItemPage, PublishedFeed
from pagekeep.present.feed_formats import ATOM_TYPE, JSON_TYPE, OutEntry, OutFeed, write_atom, write_json_feed
from pagekeep.present.sections import body_of
from pagekeep.workers import Client, current_client

router = APIRouter(prefix="/shared", include_in_schema=False)

Format = Literal["atom.xml", "feed.json"]
Secret = Annotated[str, Path(max_length=200)]
_VERSION: Final = 1
"""Part of every ETag: raised when the same items give other bytes."""
_WRITERS: Final = {"atom.xml": (write_atom, ATOM_TYPE), "feed.json": (write_json_feed, JSON_TYPE)}
_MAX_SUMMARY_CHARS: Final = 500
_FEED_POLICY: Final = "default-src 'none'; sandbox"
_PICTURE_HEADERS: Final = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Security-Policy": _FEED_POLICY,
    "Cross-Origin-Resource-Policy": "cross-origin",  # feed readers on the web show them
}


@dataclass(frozen=True, slots=True)
class _Shared:
    """A published feed whose secret a request has."""

    feed: PublishedFeed
    library: Store
    secret: str


@asynccontextmanager
async def _open(service: Service, secret: str) -> AsyncIterator[_Shared]:
    """Open the library of the feed with this secret; `NotFound` when there is none."""
    local = None if service.shared else service.settings.user
    token = await to_thread(accounts.published_token, service.accounts, secret, local=local)
    current_client.set(Client(token.user_id, "feed"))  # readers of the feed and the user take turns
    async with service.libraries.borrow(token.user_id) as library:
        yield _Shared(await to_thread(lists.get_published, library, token.id), library, secret)


@dataclass(frozen=True, slots=True)
class PictureAddress:
    """Returns the addresses of pictures in one feed: of kept ones here, of others where they are."""

    key: bytes
    address: str
    kept: frozenset[str]

    def __call__(self, url: str) -> str:
        """Return the address for a picture's own address."""
        if normal_source(url) not in self.kept:
            return url
        return f"{self.address}?{urlencode({'url': url, 'sig': sign(self.key, url)}, quote_via=quote)}"


def sign(key: bytes, url: str) -> str:
    """Return the signature of a picture's address."""
    return hmac.new(key, url.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def _key(service: Service, feed: PublishedFeed) -> bytes:
    """Return the key by which pictures of one feed are signed, and no others."""
    return hmac.new(service.secret, f"pictures of feed {feed.id}".encode(), hashlib.sha256).digest()


@router.api_route("/{secret}/picture", methods=["GET", "HEAD"])
async def read_picture(
    service: CurrentService,
    secret: Secret,
    url: Annotated[str, Query(max_length=8_000)],
    sig: Annotated[str, Query(max_length=64)],
) -> Response:
    """Return a kept picture of a feed; only for addresses that this feed contains."""
    async with _open(service, secret) as shared:
        if not hmac.compare_digest(sign(_key(service, shared.feed), url).encode(), sig.encode("utf-8", "replace")):
            raise NotFound("There is no such picture in this feed.")
        kept = await to_thread(find_picture, shared.library, url)
    if kept is None:
        raise NotFound("There is no such picture in this feed.")
    place = "attachment" if kept.media_type == SVG_TYPE else "inline"
    return Response(kept.data, media_type=kept.media_type, headers={**_PICTURE_HEADERS, "Content-Disposition": place})


@router.api_route("/{secret}/{format}", methods=["GET", "HEAD"])
async def read_feed(
    request: Request,
    service: CurrentService,
    secret: Secret,
    format: Format,
    after: Annotated[str | None, Query(max_length=10_000)] = None,
) -> Response:
    """Return a page of the feed; 304 when the client has it already."""
    async with _open(service, secret) as shared:
        page = await to_thread(lists.list_published_items, shared.library, shared.feed, after)
        origin = str(request.base_url).rstrip("/")
        headers = _validators(shared.feed, page, format, origin)
        if _has_current(request, headers):
            return Response(status_code=304, headers=headers)
        entries = [await _entry(item, shared, service, origin) for item in page.items]
    address = f"{origin}/shared/{secret}/{format}"
    feed = OutFeed(
        id=f"urn:uuid:{shared.feed.id}",
        title=shared.feed.title,
        address=address if after is None else f"{address}?{urlencode({'after': after})}",
        entries=tuple(entries),
        next_url=f"{address}?{urlencode({'after': page.next})}" if page.next else None,
        updated=clock.to_the_second(_newest(shared.feed, page)),
    )
    write, media_type = _WRITERS[format]
    return Response(write(feed), media_type=f"{media_type}; charset=utf-8", headers=headers)


def _newest(feed: PublishedFeed, page: ItemPage) -> str:
    return max((item.updated_at for item in page.items), default=feed.created_at)


def _validators(feed: PublishedFeed, page: ItemPage, format: Format, origin: str) -> dict[str, str]:
    """Return the headers by which a client recognises this version: known before anything is rendered."""
    marks = [_VERSION, feed, format, origin, page.next, [(item.id, item.updated_at) for item in page.items]]
    digest = hashlib.sha256(repr(marks).encode("utf-8", "replace")).hexdigest()[:24]
    changed = datetime.fromisoformat(_newest(feed, page)).astimezone(UTC).replace(microsecond=0)
    return {
        "ETag": f'"{digest}"',
        "Last-Modified": format_datetime(changed, usegmt=True),
        "Cache-Control": "private, no-cache",
        "Content-Security-Policy": _FEED_POLICY,
    }


def _has_current(request: Request, headers: dict[str, str]) -> bool:
    if "if-none-match" in request.headers:
        return has_etag(request.headers["if-none-match"], headers["ETag"])
    try:
        since = parsedate_to_datetime(request.headers.get("if-modified-since", ""))
        return since >= parsedate_to_datetime(headers["Last-Modified"])
    except (ValueError, TypeError, IndexError):
        return False


async def _entry(item: Item, shared: _Shared, service: Service, origin: str) -> OutEntry:
    pictures = await to_thread(list_pictures, shared.library, item.id)
    kept = frozenset(normal_source(picture.source) for picture in pictures if picture.state == "kept")
    picture_url = PictureAddress(_key(service, shared.feed), f"{origin}/shared/{shared.secret}/picture", kept)
    rendered = await service.renderer.render(
        body_of(item.content), base=item.url, title=item.title, image_url=picture_url
    )
    if rendered.is_temporary:  # never a fallback under the ETag of the real text
        raise _Busy("The server is busy.", suggestions=("Try again in a minute.",))
    about = item.metadata
    return OutEntry(
        id=f"urn:uuid:{item.id}",
        title=item.title,
        url=item.url_full if item.url_full.startswith(("http://", "https://")) else item.url,
        html=rendered.html,
        updated=clock.to_the_second(item.updated_at),
        published=_published(item.published_at) or clock.to_the_second(item.saved_at),
        author=item.author,
        categories=about.tags,
        summary=(about.description or "")[:_MAX_SUMMARY_CHARS] or None,
        image=picture_url(about.hero_image) if about.hero_image else None,
        language=about.language,
    )


class _Busy(PagekeepError):
    """The feed cannot be written now."""


def _published(date: str | None) -> str | None:
    """Return a date of a page, which may be a year or a day, as feeds write it."""
    begin = clock.begin_of(date or "")
    return clock.to_the_second(begin) if begin else None
