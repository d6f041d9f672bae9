"""`/opds`: the feeds of the catalogue."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from pagekeep import clock
from pagekeep.doors.http.caller import ReadCaller, ReadLibrary
from pagekeep.doors.http.compat.opds import atom, json_feed, mapping
from pagekeep.doors.http.compat.opds.mapping import Feed, Section
from pagekeep.doors.http.responses import Json
from pagekeep.errors import NotFound
from pagekeep.library import items
from pagekeep.library.lists.lists import get_list, list_lists, list_page
from pagekeep.library.open import Store
from pagekeep.model import Filter, Item, ItemQuery, item_filters

router = APIRouter(prefix="/opds")
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


@router.api_route("", methods=METHODS)
@router.api_route("/", methods=METHODS)
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


@router.api_route("/search.xml", methods=METHODS)
def describe_search(request: Request, _caller: ReadCaller) -> Response:
    """Return how to search."""
    return Response(atom.write_search(base_of(request)), media_type=atom.OPEN_SEARCH)


@router.api_route("/search", methods=METHODS)
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
    page = items.search_items(library, text, limit=PER_PAGE, after=after)
    path = f"/opds/search?{urlencode({'q': text})}"
    return respond(request, _feed(f"Search: {text}", path, page.items, after, page.next))


@router.api_route("/tags", methods=METHODS)
def list_tags(request: Request, library: ReadLibrary) -> Response:
    """Return the tags, the most used first."""
    counts = items.count_tags(library)[:MAX_TAGS]
    sections = [
        Section(tag, f"/opds/tags/{quote(tag, safe='')}", f"{count:,} page{'s' * (count != 1)}")
        for tag, count in counts
        if tag.strip()
    ]
    return respond(request, Feed("Tags", "/opds/tags", clock.to_the_second(clock.now()), tuple(sections)))


@router.api_route("/tags/{tag:path}", methods=METHODS)
def show_tag(request: Request, tag: Tag, library: ReadLibrary, after: Key = None) -> Response:
    """Return the pages with a tag; first all of them as one book."""
    path = f"/opds/tags/{quote(tag, safe='')}"
    book = f"/opds/periodicals/tag.epub?{urlencode({'tag': tag})}"
    return respond(request, _list(library, tag, path, item_filters(tags=(tag,)), after, book))


@router.api_route("/lists", methods=METHODS)
def list_own_lists(request: Request, library: ReadLibrary) -> Response:
    """Return the user's own lists by name."""
    kinds = {"manual": "Chosen pages", "search": "A saved search"}
    sections = [
        Section(found.name, f"/opds/lists/{found.id}", kinds[found.kind]) for found in list_lists(library)[:MAX_TAGS]
    ]
    return respond(request, Feed("Lists", "/opds/lists", clock.to_the_second(clock.now()), tuple(sections)))


@router.api_route("/lists/{list_id}", methods=METHODS)
def show_own_list(
    request: Request, list_id: Annotated[str, Path(max_length=100)], library: ReadLibrary, after: Key = None
) -> Response:
    """Return the pages of a list in their order; first all of them as one book."""
    found = get_list(library, list_id)
    page = list_page(library, found, limit=PER_PAGE, after=after)
    path = f"/opds/lists/{found.id}"
    feed = _feed(found.name, path, page.items, after, page.next)
    book = f"/opds/periodicals/list.epub?{urlencode({'list': found.id})}"
    return respond(request, _with_book(feed, found.name, path, page.items, None if after else book))


@router.api_route("/{name}", methods=METHODS)
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
    page = items.find_items(library, ItemQuery(filters=filters, limit=PER_PAGE, after=after))
    feed = _feed(title, path, page.items, after, page.next)
    return _with_book(feed, title, path, page.items, None if after else book)


def _with_book(feed: Feed, title: str, path: str, found: tuple[Item, ...], book: str | None) -> Feed:
    """Return the feed with all its pages as one book at its top."""
    if book is None or not found:
        return feed
    whole = mapping.periodical(title, path, book, found)
    return Feed(feed.title, feed.path, feed.updated, (), (whole, *feed.publications), feed.next)


def _feed(
    title: str, path: str, found: tuple[Item, ...], after: str | None = None, following: str | None = None
) -> Feed:
    join = "&" if "?" in path else "?"
    own = f"{path}{join}{urlencode({'after': after})}" if after else path
    later = f"{path}{join}{urlencode({'after': following})}" if following else None
    return Feed(title, own, mapping.newest(found), (), tuple(map(mapping.publication, found)), later)


def base_of(request: Request) -> str:
    """Return the server's address as the client knows it, without a slash at its end."""
    return str(request.base_url).rstrip("/")


def respond(request: Request, feed: Feed) -> Response:
    """Return a feed as JSON to clients that accept OPDS 2.0, and as Atom to all others."""
    base = base_of(request)
    headers = {"Vary": "Accept, Authorization, Cookie"}
    if json_feed.TYPE in request.headers.get("accept", "").lower():
        response: Response = Json(json_feed.write_feed(feed, base), headers=headers)
        response.headers["content-type"] = json_feed.TYPE
        return response
    kind = atom.NAVIGATION if feed.sections and not feed.publications else atom.ACQUISITION
    return Response(atom.write_feed(feed, base).encode("utf-8", "replace"), headers={**headers, "Content-Type": kind})
