"""`/opds`: the library as a catalogue of books for e-readers, OPDS 1.2 (Atom) and 2.0 (JSON), by `Accept`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Annotated, Any, Final
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from pagekeep import clock
from pagekeep.doors.http.caller import ReadCaller, ReadLibrary
from pagekeep.doors.http.requests import PathRouter
from pagekeep.doors.http.responses import Json, attachment
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import NotFound
from pagekeep.library.archive.pictures import find_picture
from pagekeep.library.exports.item_book import MAX_ITEMS, build_item_book, build_periodical, draw_cover
from pagekeep.library.feeds.inbox import search_items
from pagekeep.library.items import find
from pagekeep.library.items.lists import list_page
from pagekeep.library.open import Store
from pagekeep.model import Filter, Item, ItemQuery, item_filters

catalogue_router = APIRouter(prefix="/opds")
METHODS: Final = ["GET", "HEAD"]
"""KOReader asks for the headers first."""
PER_PAGE: Final = 30
WEEK_DAYS: Final = 7
MAX_TAGS: Final = 500
LISTS: Final = {"inbox": "Inbox", "pinned": "Pinned", "archive": "Archive", "week": "This week"}
Key = Annotated[str | None, Query(max_length=10_000)]
Tag = Annotated[str, Path(max_length=200)]


def list_filters(name: str) -> tuple[Filter, ...]:
    """Return the filters of a list; `NotFound` for any other name."""
    if name == "week":
        return item_filters(saved_after=clock.add_seconds(clock.now(), -WEEK_DAYS * 86_400.0))
    chosen = {
        "inbox": item_filters(archived=False),
        "pinned": item_filters(pinned=True),
        "archive": item_filters(archived=True),
    }
    if name not in chosen:
        raise NotFound("There is no such list.")
    return chosen[name]


@catalogue_router.api_route("", methods=METHODS)
@catalogue_router.api_route("/", methods=METHODS)
def show_start(request: Request, _caller: ReadCaller) -> Response:
    """Return the start of the catalogue."""
    sections = [
        Section("Inbox", "/opds/inbox", "Pages that are not archived"),
        Section("Pinned", "/opds/pinned", "Pinned pages"),
        Section("This week", "/opds/week", "Pages saved in the last seven days, also as one book"),
        Section("Lists", "/opds/lists", "Your own lists, each also as one book", of_sections=True),
        Section("Tags", "/opds/tags", "Pages by tag", of_sections=True),
        Section("Archive", "/opds/archive", "Archived pages"),
    ]
    return respond(request, Feed("Pagekeep", "/opds", clock.to_the_second(clock.now()), tuple(sections)))


@catalogue_router.api_route("/search.xml", methods=METHODS)
def describe_search(request: Request, _caller: ReadCaller) -> Response:
    """Return how to search."""
    return Response(write_search(base_of(request)), media_type=OPEN_SEARCH)


@catalogue_router.api_route("/search", methods=METHODS)
def search(
    request: Request,
    library: ReadLibrary,
    q: Annotated[str, Query(max_length=1_000)] = "",
    query: Annotated[str, Query(max_length=1_000)] = "",
    after: Key = None,
) -> Response:
    """Return the pages that a search finds."""
    text = q or query
    if not text.strip():
        return respond(request, _feed("Search", "/opds/search", ()))
    page = search_items(library, text, limit=PER_PAGE, after=after)
    path = f"/opds/search?{urlencode({'q': text})}"
    return respond(request, _feed(f"Search: {text}", path, page.items, after, page.next))


@catalogue_router.api_route("/tags", methods=METHODS)
def list_tags(request: Request, library: ReadLibrary) -> Response:
    """Return the tags, the most used first."""
    counts = library.tags.counts()[:MAX_TAGS]
    sections = [
        Section(tag, f"/opds/tags/{quote(tag, safe='')}", f"{count:,} page{'s' * (count != 1)}")
        for tag, count in counts
        if tag.strip()
    ]
    return respond(request, Feed("Tags", "/opds/tags", clock.to_the_second(clock.now()), tuple(sections)))


@catalogue_router.api_route("/tags/{tag:path}", methods=METHODS)
def show_tag(request: Request, tag: Tag, library: ReadLibrary, after: Key = None) -> Response:
    """Return the pages with a tag; first all of them as one book."""
    path = f"/opds/tags/{quote(tag, safe='')}"
    book = f"/opds/periodicals/tag.epub?{urlencode({'tag': tag})}"
    return respond(request, _list(library, tag, path, item_filters(tags=(tag,)), after, book))


@catalogue_router.api_route("/lists", methods=METHODS)
def list_own_lists(request: Request, library: ReadLibrary) -> Response:
    """Return the user's own lists by name."""
    kinds = {"manual": "Chosen pages", "search": "A saved search"}
    sections = [
        Section(found.name, f"/opds/lists/{found.id}", kinds[found.kind]) for found in library.lists.list()[:MAX_TAGS]
    ]
    return respond(request, Feed("Lists", "/opds/lists", clock.to_the_second(clock.now()), tuple(sections)))


@catalogue_router.api_route("/lists/{list_id}", methods=METHODS)
def show_own_list(
    request: Request, list_id: Annotated[str, Path(max_length=100)], library: ReadLibrary, after: Key = None
) -> Response:
    """Return the pages of a list in their order; first all of them as one book."""
    found = library.lists.get(list_id)
    page = list_page(library, found, limit=PER_PAGE, after=after)
    path = f"/opds/lists/{found.id}"
    feed = _feed(found.name, path, page.items, after, page.next)
    book = f"/opds/periodicals/list.epub?{urlencode({'list': found.id})}"
    return respond(request, _with_book(feed, found.name, path, page.items, None if after else book))


@catalogue_router.api_route("/{name}", methods=METHODS)
def show_list(
    request: Request, name: Annotated[str, Path(max_length=20)], library: ReadLibrary, after: Key = None
) -> Response:
    """Return a list of pages; of this week, first all of them as one book."""
    filters = list_filters(name)
    book = "/opds/periodicals/week.epub" if name == "week" else None
    return respond(request, _list(library, LISTS[name], f"/opds/{name}", filters, after, book))


def _list(
    library: Store, title: str, path: str, filters: tuple[Filter, ...], after: str | None, book: str | None
) -> Feed:
    page = library.search.find(ItemQuery(filters=filters, limit=PER_PAGE, after=after))
    feed = _feed(title, path, page.items, after, page.next)
    return _with_book(feed, title, path, page.items, None if after else book)


def _with_book(feed: Feed, title: str, path: str, found: tuple[Item, ...], book: str | None) -> Feed:
    """Return the feed with all its pages as one book at its top."""
    if book is None or not found:
        return feed
    whole = periodical(title, path, book, found)
    return Feed(feed.title, feed.path, feed.updated, (), (whole, *feed.publications), feed.next)


def _feed(
    title: str, path: str, found: tuple[Item, ...], after: str | None = None, following: str | None = None
) -> Feed:
    join = "&" if "?" in path else "?"
    own = f"{path}{join}{urlencode({'after': after})}" if after else path
    later = f"{path}{join}{urlencode({'after': following})}" if following else None
    return Feed(title, own, newest(found), (), tuple(map(publication, found)), later)


def base_of(request: Request) -> str:
    """Return the server's address as the client knows it, without a slash at its end."""
    return str(request.base_url).rstrip("/")


def respond(request: Request, feed: Feed) -> Response:
    """Return a feed as JSON to clients that accept OPDS 2.0, and as Atom to all others."""
    base = base_of(request)
    headers = {"Vary": "Accept, Authorization, Cookie"}
    if JSON_TYPE in request.headers.get("accept", "").lower():
        response: Response = Json(write_json(feed, base), headers=headers)
        response.headers["content-type"] = JSON_TYPE
        return response
    kind = NAVIGATION if feed.sections and not feed.publications else ACQUISITION
    return Response(write_atom(feed, base).encode("utf-8", "replace"), headers={**headers, "Content-Type": kind})


books_router = APIRouter(prefix="/opds")
_SHOWN: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


@books_router.api_route("/books/{item_id}.epub", methods=METHODS)
async def read_book(
    item_id: Annotated[str, Path(max_length=40)], library: ReadLibrary, service: CurrentService
) -> Response:
    """Return a page as an EPUB."""
    item = await run_in_threadpool(_get, library, item_id)
    return _file(await build_item_book(library, item, service.room), item.title)


@books_router.api_route("/periodicals/{name}.epub", methods=METHODS)
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


@books_router.api_route("/periodicals/{name}.jpg", methods=METHODS)
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
        title = (await run_in_threadpool(library.lists.get, list_id)).name
    if title is None:
        raise NotFound("There is no such list.")
    return Response(await draw_cover(title, (), service.room), media_type="image/jpeg")


def _find_pages(library: Store, name: str, tag: str, list_id: str) -> tuple[str, tuple[Item, ...]]:
    """Return the name of a list and its pages, as many as one book may have."""
    if name == "list":
        own = library.lists.get(list_id)
        return own.name, list_page(library, own, limit=MAX_ITEMS).items
    by_tag = name == "tag" and bool(tag)
    filters = item_filters(tags=(tag,)) if by_tag else list_filters(name)
    page = library.search.find(ItemQuery(filters=filters, limit=MAX_ITEMS))
    return tag if by_tag else LISTS[name], page.items


@books_router.api_route("/covers/{item_id}.jpg", methods=METHODS)
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
    item = find.get_item(library, key) if "." not in key and "/" not in key else None
    if item is None or item.deleted_at is not None:
        raise NotFound("There is no such page.")
    return item


def _file(data: bytes, title: str) -> Response:
    return Response(data, media_type=EPUB, headers={"Content-Disposition": attachment(title, "epub")})


EPUB: Final = "application/epub+zip"
MAX_SUMMARY_CHARS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Section:
    """A link to another feed."""

    title: str
    path: str
    about: str
    of_sections: bool = False
    """Whether that feed has sections, and not publications."""


@dataclass(frozen=True, slots=True)
class Publication:
    """Something to download."""

    id: str
    title: str
    updated: str
    path: str
    cover: str
    author: str = ""
    summary: str = ""
    language: str | None = None
    published: str | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Feed:
    """One page of a feed."""

    title: str
    path: str
    updated: str
    sections: tuple[Section, ...] = ()
    publications: tuple[Publication, ...] = ()
    next: str | None = None
    """Path of the next page."""
    number: int | None = field(default=None)
    """Publications in all, where that is known."""


def publication(item: Item) -> Publication:
    """Return an item as a publication."""
    about = item.metadata
    return Publication(
        id=f"urn:uuid:{item.id}",
        title=" ".join(item.title.split()) or item.url,
        updated=clock.to_the_second(item.updated_at),
        path=f"/opds/books/{item.id}.epub",
        cover=f"/opds/covers/{item.id}.jpg",
        author=item.author or about.site_name or item.domain,
        summary=(about.description or "")[:MAX_SUMMARY_CHARS],
        language=about.language,
        published=(item.published_at or "")[:10] or None,
        tags=tuple(tag for tag in about.tags if tag.strip()),
        source=item.url,
    )


def periodical(title: str, key: str, path: str, items: Sequence[Item]) -> Publication:
    """Return a list as one book."""
    return Publication(
        id=f"urn:pagekeep:{quote(key, safe='')}",
        title=title,
        updated=newest(items),
        path=path,
        cover=path.replace(".epub", ".jpg", 1),
        author="Pagekeep",
        summary="All pages of this list in one book.",
    )


def newest(items: Sequence[Item]) -> str:
    """Return when one of the items changed last."""
    return clock.to_the_second(max((item.updated_at for item in items), default="1970-01-01T00:00:00.000000Z"))


NAVIGATION: Final = "application/atom+xml;profile=opds-catalog;kind=navigation"
ACQUISITION: Final = "application/atom+xml;profile=opds-catalog;kind=acquisition"
OPEN_SEARCH: Final = "application/opensearchdescription+xml"
_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write_atom(feed: Feed, base: str) -> str:
    """Return a feed as Atom; `base` is the server's address without a slash at its end."""
    kind = NAVIGATION if feed.sections and not feed.publications else ACQUISITION
    links = [
        _link("self", base + feed.path, kind),
        _link("start", f"{base}/opds", NAVIGATION),
        _link("search", f"{base}/opds/search.xml", OPEN_SEARCH),
        _link("alternate", base + feed.path, "application/opds+json"),
    ]
    if feed.next:
        links.append(_link("next", base + feed.next, ACQUISITION))
    entries = [_section(section, feed.updated, base) for section in feed.sections]
    entries += [_atom_publication(one, base) for one in feed.publications]
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" '
        'xmlns:dc="http://purl.org/dc/terms/">'
        f"<id>{_text(base + feed.path)}</id><title>{_text(feed.title)}</title><updated>{feed.updated}</updated>"
        f"<author><name>Pagekeep</name></author>{''.join(links)}\n{''.join(entries)}</feed>\n"
    )


def write_search(base: str) -> str:
    """Return the description of the search, with an absolute template: some programs do not complete it."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
        "<ShortName>Pagekeep</ShortName><Description>Search the library</Description>"
        f'<Url type="{ACQUISITION}" template="{_text(base)}/opds/search?q={{searchTerms}}"/></OpenSearchDescription>\n'
    )


def _section(section: Section, updated: str, base: str) -> str:
    kind = NAVIGATION if section.of_sections else ACQUISITION
    return (
        f"<entry><title>{_text(section.title)}</title><id>{_text(base + section.path)}</id><updated>{updated}</updated>"
        f'<content type="text">{_text(section.about)}</content>{_link("subsection", base + section.path, kind)}</entry>\n'
    )


def _atom_publication(one: Publication, base: str) -> str:
    # One author: of several, some programs show the last.
    parts = [
        f"<title>{_text(one.title)}</title><id>{_text(one.id)}</id><updated>{one.updated}</updated>",
        f"<author><name>{_text(one.author or 'Unknown')}</name></author>",
        f"<dc:language>{_text(one.language)}</dc:language>" if one.language else "",
        f"<dc:issued>{_text(one.published)}</dc:issued>" if one.published else "",
        "".join(f'<category term="{_text(tag)}" label="{_text(tag)}"/>' for tag in one.tags),
        f'<summary type="text">{_text(one.summary)}</summary>' if one.summary else "",
        _link("http://opds-spec.org/acquisition", base + one.path, EPUB),
        _link("http://opds-spec.org/image", base + one.cover, "image/jpeg"),
        _link("http://opds-spec.org/image/thumbnail", base + one.cover, "image/jpeg"),
        _link("alternate", one.source, "text/html") if one.source else "",
    ]
    return f"<entry>{''.join(parts)}</entry>\n"


def _link(rel: str, href: str, kind: str) -> str:
    return f'<link rel="{rel}" href="{_text(href)}" type="{kind}"/>'


def _text(value: str) -> str:
    return escape(_NOT_IN_XML.sub("\ufffd", value))


JSON_TYPE: Final = "application/opds+json"


def write_json(feed: Feed, base: str) -> dict[str, Any]:
    """Return a feed as JSON; `base` is the server's address without a slash at its end."""
    links: list[dict[str, Any]] = [
        {"rel": "self", "href": base + feed.path, "type": JSON_TYPE},
        {"rel": "start", "href": f"{base}/opds", "type": JSON_TYPE},
        {"rel": "search", "href": f"{base}/opds/search{{?query}}", "type": JSON_TYPE, "templated": True},
    ]
    if feed.next:
        links.append({"rel": "next", "href": base + feed.next, "type": JSON_TYPE})
    about: dict[str, Any] = {"title": feed.title, "modified": feed.updated}
    if feed.number is not None:
        about["numberOfItems"] = feed.number
    shown: dict[str, Any] = {"metadata": about, "links": links}
    navigation = [
        {"title": section.title, "href": base + section.path, "type": JSON_TYPE, "rel": "subsection"}
        for section in feed.sections
    ]
    if feed.publications:
        shown["publications"] = [_json_publication(one, base) for one in feed.publications]
    if navigation or not feed.publications:  # an empty list of publications is not allowed
        shown["navigation"] = navigation or [
            {"title": "Start", "href": f"{base}/opds", "type": JSON_TYPE, "rel": "start"}
        ]
    return shown


def _json_publication(one: Publication, base: str) -> dict[str, Any]:
    about: dict[str, Any] = {
        "@type": "http://schema.org/Article",
        "identifier": one.id,
        "title": one.title,
        "modified": one.updated,
        "author": one.author or "Unknown",
        "description": one.summary or None,
        "language": one.language,
        "published": one.published if one.published and len(one.published) == 10 else None,
        "subject": list(one.tags) or None,
    }
    return {
        "metadata": {name: value for name, value in about.items() if value is not None},
        "links": [
            {"rel": "self", "href": base + one.path, "type": EPUB},
            {"rel": "http://opds-spec.org/acquisition", "href": base + one.path, "type": EPUB},
        ],
        "images": [{"href": base + one.cover, "type": "image/jpeg"}],
    }


router = PathRouter("/opds", include_in_schema=False)
for _part in (catalogue_router, books_router):
    router.include_router(_part)
