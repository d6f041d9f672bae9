"""Feeds that the user subscribed to: find, add, list, change and remove them, and exchange them as OPML."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Final
from urllib.parse import urljoin

from pagekeep import clock, extras
from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import InvalidQuery, NotFound, PagekeepError, UnsupportedContent
from pagekeep.fetch.urls import split_url
from pagekeep.library.feeds.parse.tasks import FindFeedLinks, ParseFeed, ReadOpml
from pagekeep.model import EntryCounts, Feed, FeedKind, FeedSettings, FeedStatus, Fetched
from pagekeep.model.feeds import FoundFeed, Outline, ParsedFeed
from pagekeep.store import Store
from pagekeep.text import one_line

TASK: Final = "feeds"
"""The task that polls the feeds of a user."""
EVERY: Final = 900
"""Seconds between two looks for feeds that are due, unless one is due before."""
MAX_FEEDS: Final = 10_000
MAX_FILTERS: Final = 50
MAX_NAME_CHARS: Final = 300
MAX_FOLDER_CHARS: Final = 300
MAX_KEEP: Final = 10_000
_NO_COUNTS: Final = EntryCounts()


@dataclass(frozen=True, slots=True)
class CountedFeed:
    """A feed and how many of its entries are in the inbox."""

    feed: Feed
    counts: EntryCounts


def add_feed(
    store: Store,
    address: str,
    *,
    kind: FeedKind = "web",
    title: str = "",
    site: str | None = None,
    folder: str = "",
    settings: FeedSettings | None = None,
) -> tuple[Feed, bool]:
    """Subscribe to a feed, and return it and whether it is new; it is polled as soon as jobs run.

    `InvalidUrl` for a web feed whose address is not one. A feed that exists already stays as it is.
    """
    if kind == "web":
        address = complete_address(address)
    if len(store.feeds.list()) >= MAX_FEEDS:
        raise InvalidQuery(f"There are already {MAX_FEEDS:,} feeds.", suggestions=("Remove some first.",))
    added = store.feeds.add(
        kind,
        address,
        now=clock.now(),
        title=one_line(title)[:MAX_NAME_CHARS],
        site=site,
        folder=clean_folder(folder),
        settings=check_settings(settings or FeedSettings()),
    )
    if kind == "web":
        wake_polling(store)
    return added


def complete_address(address: str) -> str:
    """Return the address of a web feed with its scheme; `InvalidUrl` or `InvalidProtocol` when it is not one."""
    address = address.strip()
    if address.lower().startswith("feed:"):
        address = address[5:].removeprefix("//")
    return split_url(address if "://" in address else f"https://{address}").url


def get_feed(store: Store, key: str) -> Feed:
    """Return the feed with this id, beginning of an id, address or name; `NotFound` when there is none."""
    try:
        return store.feeds.get(key)
    except NotFound:
        named = [feed for feed in store.feeds.list() if feed.label.casefold() == key.strip().casefold()]
        if len(named) != 1:
            raise
        return named[0]


def list_feeds(store: Store) -> tuple[CountedFeed, ...]:
    """Return all feeds with their counts, by folder and name."""
    counts, left_out = store.entries.counts(), store.entries.left_out()
    return tuple(
        CountedFeed(feed, replace(counts.get(feed.id, _NO_COUNTS), left_out=left_out.get(feed.id, 0)))
        for feed in store.feeds.list()
    )


def count_entries(store: Store, feed: Feed) -> EntryCounts:
    """Return how many entries of a feed are in the inbox, and how many it left out."""
    counts = store.entries.counts().get(feed.id, _NO_COUNTS)
    return replace(counts, left_out=store.entries.left_out().get(feed.id, 0))


def count_unread(store: Store) -> int:
    """Return how many entries in the feed inbox are unread."""
    return sum(counts.unread for counts in store.entries.counts().values())


def change_feed(
    store: Store,
    key: str,
    *,
    folder: str | None = None,
    status: FeedStatus | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Feed:
    """Change a feed's folder, status, or some fields of its settings; what is not named stays."""
    feed = get_feed(store, key)
    settings = check_settings(replace(feed.settings, **changes)) if changes else None
    revived = status == "active" and feed.status != "active"
    changed = store.feeds.change(
        feed.id,
        clock.now(),
        folder=None if folder is None else clean_folder(folder),
        settings=settings,
        status=status,
        next_at=clock.now() if revived or (changes and "every" in changes) else None,
    )
    if revived:
        wake_polling(store)
    return changed


def remove_feed(store: Store, key: str) -> Feed:
    """Unsubscribe from a feed: its entries leave the inbox, items that were kept stay."""
    feed = get_feed(store, key)
    store.feeds.remove(feed.id)
    return feed


def request_poll(store: Store, keys: tuple[str, ...] = ()) -> tuple[Feed, ...]:
    """Have these feeds, or all that are active, polled as soon as jobs run; return them as they were before."""
    feeds = (
        [get_feed(store, key) for key in keys]
        if keys
        else [one for one in store.feeds.list() if one.status == "active"]
    )
    due, now = tuple({feed.id: feed for feed in feeds if feed.kind == "web"}.values()), clock.now()
    for feed in due:
        store.feeds.change(feed.id, now, next_at=now, status="active" if keys else None)
    if due:
        wake_polling(store)
    return due


def wake_polling(store: Store) -> None:
    """Have the next look for due feeds now."""
    now = clock.now()
    store.schedules.put(TASK, "", "pagekeep:feeds", EVERY, now, now)


def clean_folder(folder: str) -> str:
    """Return folders in the form in which they are stored: names separated by `/`, without empty ones."""
    names = (one_line(name) for name in folder.split("/"))
    return "/".join(name for name in names if name)[:MAX_FOLDER_CHARS]


def check_settings(settings: FeedSettings) -> FeedSettings:
    """Return the settings in the form in which they are stored; `InvalidQuery` for values out of bounds."""
    for name in ("keep_count", "keep_days"):
        if not 0 <= getattr(settings, name) <= MAX_KEEP:
            raise InvalidQuery(f"`{name}` must be 0 to {MAX_KEEP:,}.", suggestions=("0 sets no limit.",))
    if settings.every is not None and not 300 <= settings.every <= 90 * 86_400:
        raise InvalidQuery("A feed is polled every 5 minutes to 90 days.", suggestions=("Leave `every` out.",))
    return replace(
        settings,
        name=one_line(settings.name or "")[:MAX_NAME_CHARS] or None,
        tags=_clean_list(settings.tags),
        include=_clean_list(settings.include),
        exclude=_clean_list(settings.exclude),
    )


def _clean_list(texts: tuple[str, ...]) -> tuple[str, ...]:
    cleaned = (one_line(text)[:MAX_NAME_CHARS] for text in texts)
    return tuple(dict.fromkeys(text for text in cleaned if text))[:MAX_FILTERS]


ACCEPT: Final = (
    "application/feed+json, application/atom+xml, application/rss+xml, application/rdf+xml, application/xml;q=0.9, "
    "text/xml;q=0.9, application/json;q=0.8, */*;q=0.5"
)
USUAL_PATHS: Final = (
    *("/feed", "/rss", "/atom.xml", "/feed.xml", "/rss.xml", "/index.xml", "/feed.json", "/feeds/posts/default"),
    *("/blog/feed", "/blog/rss.xml", "/?feed=rss2"),
)


async def find_feeds(address: str, retrieval: Retrieval, *, guess: bool = False) -> list[FoundFeed]:
    """Return the feeds at an address: the feed itself, or those that the page there names.

    With `guess`, the usual paths of the site are tried too when it names none. `NotFound` when there is no feed.
    """
    address = complete_address(address)
    fetched = await retrieval.client.download(address, accept=ACCEPT, spaced=True)
    own = await _read(fetched, retrieval)
    if own is not None:
        return [own]
    found = await retrieval.run(FindFeedLinks(fetched.body, fetched.encoding, fetched.final_url))
    if not found and guess:
        found = await _guess(fetched.final_url, retrieval)
    if not found:
        raise NotFound(
            f"No feed was found at {address:.200}.",
            suggestions=("Give the address of the feed itself.", "Let the usual paths be tried too."),
        )
    return found


async def _read(fetched: Fetched, retrieval: Retrieval) -> FoundFeed | None:
    try:
        parsed = await parse_response(fetched, retrieval)
    except UnsupportedContent:
        return None
    return FoundFeed(fetched.final_url, parsed.title, parsed.site)


async def parse_response(fetched: Fetched, retrieval: Retrieval) -> ParsedFeed:
    """Return the feed in a response, read in a worker."""
    if fetched.body.lstrip()[:1] != b"{":
        await to_thread(extras.require, "feeds", "Reading RSS and Atom feeds", error=UnsupportedContent)
    return await retrieval.run(ParseFeed(fetched.body, fetched.encoding, fetched.final_url))


async def _guess(address: str, retrieval: Retrieval) -> list[FoundFeed]:
    for path in USUAL_PATHS:
        try:
            fetched = await retrieval.client.download(urljoin(address, path), accept=ACCEPT, spaced=True)
            found = await _read(fetched, retrieval)
        except PagekeepError:
            continue
        if found is not None:
            return [found]
    return []


@dataclass(frozen=True, slots=True)
class ImportedFeeds:
    """What became of the feeds of a list."""

    added: int
    known: int
    failed: tuple[tuple[str, str], ...]
    """Addresses that are not valid, and why."""


async def read_list(body: bytes, retrieval: Retrieval) -> list[Outline]:
    """Return the feeds of an OPML file, read in a worker; `UnsupportedContent` when it is not one."""
    return await retrieval.run(ReadOpml(body))


def import_list(store: Store, outlines: Sequence[Outline]) -> ImportedFeeds:
    """Subscribe to the feeds of a list; those that exist stay as they are."""
    added, failed = 0, list[tuple[str, str]]()
    for outline in outlines:
        try:
            _, is_new = add_feed(store, outline.address, title=outline.title, site=outline.site, folder=outline.folder)
        except PagekeepError as error:
            failed.append((outline.address, error.message))
            continue
        added += is_new
    return ImportedFeeds(added, len(outlines) - added - len(failed), tuple(failed))


def export_list(store: Store) -> str:
    """Return all web feeds as OPML."""
    return write_opml(store.feeds.list(), clock.to_the_second(clock.now()))


def write_opml(feeds: Sequence[Feed], created: str) -> str:
    """Return the web feeds as OPML 2.0, in their folders."""
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<opml version="2.0">',
        f"<head><title>Feeds</title><dateCreated>{_xml(created)}</dateCreated></head>",
        "<body>",
        *_write_folder([feed for feed in feeds if feed.kind == "web"], ()),
        "</body>",
        "</opml>",
    ]
    return "\n".join(lines) + "\n"


def _write_folder(feeds: Sequence[Feed], path: tuple[str, ...]) -> Iterator[str]:
    indent, inner = "  " * (len(path) + 1), dict[str, list[Feed]]()
    for feed in feeds:
        folders = tuple(feed.folder.split("/")) if feed.folder else ()
        if len(folders) > len(path):
            inner.setdefault(folders[len(path)], []).append(feed)
        else:
            site = f' htmlUrl="{_xml(feed.site)}"' if feed.site else ""
            label = _xml(feed.label)
            yield f'{indent}<outline type="rss" text="{label}" title="{label}" xmlUrl="{_xml(feed.address)}"{site}/>'
    for name, members in inner.items():
        yield f'{indent}<outline text="{_xml(name)}" title="{_xml(name)}">'
        yield from _write_folder(members, (*path, name))
        yield f"{indent}</outline>"


def _xml(text: str) -> str:
    return escape("".join(char for char in text if char >= " " and char not in "\ufffe\uffff"))
