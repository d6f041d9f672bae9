"""The feed inbox: entries wait here, apart from the library, until they are read, kept or too old; and are searched."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from pagekeep import clock
from pagekeep.capture.from_url import Progress, Request, Retrieval, ignore_progress
from pagekeep.errors import InvalidQuery, NotFound, PagekeepError, StoreError
from pagekeep.library import normal_url
from pagekeep.library.items import build_item
from pagekeep.library.items.find import asks_for_feeds
from pagekeep.library.queue import SaveRequest, SliceResult
from pagekeep.library.saving.save import save
from pagekeep.model import (
    AddedEntries,
    Entry,
    EntryQuery,
    Feed,
    Filter,
    Hit,
    Item,
    ItemMetadata,
    ItemPage,
    ItemQuery,
    Job,
    NewEntry,
    Order,
    SaveResult,
    Term,
)
from pagekeep.store import Store, parse_query
from pagekeep.store.tables.entries import guid_hash
from pagekeep.text import count_words, fold, one_line, strip_markdown

KEEP_TASK: Final = "keep_entry"
"""The task that makes an item of an entry."""
NEWEST: Final = 10
"""Entries of a feed that stay whatever their age, so that a feed that is seldom written does not look empty."""
MAX_TITLE_CHARS: Final = 500
MAX_GUID_CHARS: Final = 4_000
MAX_URL_CHARS: Final = 8_000
MAX_CONTENT_CHARS: Final = 2_000_000


def add_entries(
    store: Store, feed: Feed, entries: Sequence[NewEntry], *, listed: Collection[str] | None = None
) -> AddedEntries:
    """Put entries into the inbox of a feed of any kind, and return which are new, have changed, or were left out.

    An entry that is there already, by its guid or else its address, is updated if it changed; whether it is read or kept
    stays. Then the feed's limits on number and age apply, but its newest entries stay whatever their age. `listed` are the
    guids that the feed has now, by default those of the entries: one that has left the inbox does not come back while it is
    listed.
    """
    now = clock.now()
    entries = [_bound(entry) for entry in entries]
    names = {guid_hash(guid) for guid in ([entry.guid for entry in entries] if listed is None else listed)}
    added = store.entries.put(feed.id, entries, now, names)
    days = feed.settings.keep_days
    trimmed = store.entries.trim(
        feed.id,
        now,
        count=feed.settings.keep_count,
        since=clock.add_seconds(now, -days * 86_400.0) if days else None,
        least=NEWEST,
        listed=names,
    )
    left_out = tuple(one for one in added.added if one in trimmed)
    return replace(added, added=tuple(one for one in added.added if one not in left_out), left_out=left_out)


def _bound(entry: NewEntry) -> NewEntry:
    """Return the entry with its texts within limits."""
    url = entry.url if entry.url and len(entry.url) <= MAX_URL_CHARS else None
    return replace(
        entry,
        guid=entry.guid[:MAX_GUID_CHARS],
        title=one_line(entry.title)[:MAX_TITLE_CHARS],
        url=url,
        author=one_line(entry.author or "")[:MAX_TITLE_CHARS] or None,
        content=entry.content[:MAX_CONTENT_CHARS],
    )


def mark_entries(store: Store, keys: Sequence[str], *, read: bool = True) -> int:
    """Mark entries as read or unread; return how many changed."""
    return store.entries.mark(keys, read, clock.now())


def mark_all_read(store: Store, query: EntryQuery, *, before: str | None = None) -> int:
    """Mark the entries of a query as read, of those that were in the inbox at `before`; return how many were not."""
    now = clock.now()
    return store.entries.mark_all_read(query, before or now, now)


def kept_item(store: Store, entry: Entry) -> Item | None:
    """Return the item that was made of an entry, unless it was deleted since."""
    if entry.item_id is None:
        return None
    try:
        item = store.items.get(entry.item_id)
    except NotFound:
        return None
    return item if item.deleted_at is None else None


async def keep_entry(
    key: str, store: Store, retrieval: Retrieval, *, progress: Progress = ignore_progress
) -> SaveResult:
    """Make an item of an entry, as a save of its page does, and mark the entry as kept.

    The article is fetched, unless the inbox has all of it. If it cannot be had, what the feed carried is kept instead.
    """
    entry = await to_thread(store.entries.get, key)
    known = await to_thread(kept_item, store, entry)
    if known is not None:
        return SaveResult(known, "kept", "The entry was kept already.")
    feed = await to_thread(store.feeds.get, entry.feed_id)
    saved = await _save_entry(entry, feed, store, retrieval, progress)
    await to_thread(store.entries.mark_kept, entry.id, saved.item.id, clock.now())
    return saved


async def _save_entry(entry: Entry, feed: Feed, store: Store, retrieval: Retrieval, progress: Progress) -> SaveResult:
    page = await to_thread(store.entries.page, entry.id)
    address = entry.url or (page.final_url if page else None)
    if address is None:
        raise NotFound("The entry has neither an address nor a text.", suggestions=("Open the feed's site instead.",))
    request = SaveRequest(Request(address), feed.settings.tags)
    fetched = build_item.to_fetched(page) if page else None
    if fetched is not None and entry.extra.get("full"):
        request = replace(request, uploaded=fetched, source="feed" if feed.kind == "web" else "mail")
        return await save(request, store, retrieval, progress=progress)
    try:
        saved = await save(replace(request, keep_failed=fetched is None), store, retrieval, progress=progress)
    except StoreError:
        raise
    except PagekeepError as error:
        if fetched is None:
            item = await to_thread(store.items.by_url, normal_url.normalise(address))
            if item is None:
                raise
            return SaveResult(item, "added", error.message)
    else:
        if fetched is None or saved.item.metadata.quality in ("article", "simplified"):
            return saved
    request = replace(request, uploaded=replace(fetched, url=address, final_url=address), source="feed")
    return await save(request, store, retrieval, progress=progress)


def request_keep(store: Store, key: str) -> Job:
    """Mark an entry as kept at once, and return the job that makes an item of it."""
    entry = store.entries.mark_kept(key, None, clock.now())
    return store.jobs.add(
        f"pagekeep:entry/{entry.id}", entry.url or "", {"task": KEEP_TASK, "entry": entry.id}, clock.now()
    )


async def keep_job(job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]) -> SliceResult:
    """Make an item of an entry, as a job."""
    try:
        saved = await keep_entry(str(job.options.get("entry")), store, retrieval, progress=progress)
    except NotFound:
        return SliceResult(report={"kept": 0})
    return SliceResult(report={"kept": 1, "item_id": saved.item.id})


INBOX_SOURCE: Final = "feed inbox"
"""The source of an item that is an entry of the inbox."""
ALL_FEEDS: Final = frozenset({"*", "all"})
_SNIPPET_CHARS: Final = 200


def search_items(
    store: Store, text: str, *, limit: int = 20, after: str | None = None, order: Order | None = None
) -> ItemPage:
    """Return one page of the items that a text in the query language finds, best first, with snippets.

    With `feed:`, these are entries of the feed inbox, newest first. With an `order`, a text without words, which has filters
    only, finds items in this order.
    """
    query = parse_query(text, limit=limit, after=after)
    if asks_for_feeds(query):
        return search_inbox(store, query)
    if order is not None and not (query.terms or query.excluded):
        query = store.search.expand(query)
        if not (query.terms or query.excluded):
            query = replace(query, order=order, descending=order != "title")
    return store.search.find(query)


def search_inbox(store: Store, query: ItemQuery) -> ItemPage:
    """Return one page of the entries that a query with `feed:` describes, newest first.

    `feed:` takes a name or a part of it, a folder, an address or an id; `feed:all` is every feed. An entry that was kept is
    its item. `InvalidQuery` for a feed that does not exist, and with filters other than `feed:`.
    """
    others = [filter for filter in query.filters if filter.name != "feed"]
    if others:
        raise InvalidQuery(
            f"`feed:` cannot be combined with `{others[0].name}:`.", suggestions=("Use words besides `feed:`.",)
        )
    found = store.entries.find(
        EntryQuery(
            feed_ids=_feed_ids(store, [filter for filter in query.filters if filter.name == "feed"]),
            words=tuple(map(_pattern, query.terms)),
            excluded=tuple(map(_pattern, query.excluded)),
            limit=query.limit,
            after=query.after,
            content=True,
        )
    )
    hits = (Hit(kept_item(store, entry) or to_item(store.user_id, entry), _snippet(entry)) for entry in found.entries)
    return ItemPage(tuple(hits), found.next)


def find_named(feeds: tuple[Feed, ...], name: str) -> list[Feed]:
    """Return the feeds that a text names: by folder, a part of the name, address or beginning of the id."""
    if name in ALL_FEEDS:
        return list(feeds)
    wanted = fold(name).strip()
    return [
        feed
        for feed in feeds
        if wanted in fold(feed.label)
        or wanted in (fold(feed.folder), fold(feed.address))
        or fold(feed.folder).startswith(f"{wanted}/")
        or (len(wanted) >= 4 and feed.id.startswith(wanted))
    ]


def _feed_ids(store: Store, filters: list[Filter]) -> tuple[str, ...]:
    feeds = store.feeds.list()
    chosen = {feed.id for feed in feeds}
    for filter in filters:
        named = {feed.id for feed in find_named(feeds, filter.value)}
        if not named and not filter.negated:
            raise InvalidQuery(f"There is no feed {filter.value:.100}.", suggestions=("Use `feed:all` for all feeds.",))
        chosen = chosen - named if filter.negated else chosen & named
    return tuple(sorted(chosen))


def _pattern(term: Term) -> str:
    return f" {' '.join(term.words)}" + ("" if term.prefix else " ")


def _snippet(entry: Entry) -> str:
    return strip_markdown(entry.content[: 4 * _SNIPPET_CHARS])[:_SNIPPET_CHARS]


def to_item(user_id: str, entry: Entry) -> Item:
    """Return an entry in the form of an item; its id is the entry's."""
    url = entry.url or ""
    metadata = ItemMetadata(
        word_count=count_words(entry.content),
        hero_image=entry.extra.get("image"),
        suggested_tags=tuple(entry.extra.get("categories") or ())[:5],
    )
    return Item(
        id=entry.id,
        user_id=user_id,
        url=url,
        url_full=url,
        domain=normal_url.domain(url) if url else "",
        title=entry.title,
        content=entry.content,
        source=INBOX_SOURCE,
        author=entry.author,
        saved_at=entry.found_at,
        published_at=entry.published_at,
        metadata=metadata,
        created_at=entry.found_at,
        updated_at=entry.updated_at,
    )
