"""`feed:` in searches: entries of the feed inbox, as items that are not in the library yet."""

from __future__ import annotations

from typing import Final

from pagekeep.errors import InvalidQuery
from pagekeep.library import normal_url
from pagekeep.library.feeds.inbox import kept_item
from pagekeep.model import Entry, EntryQuery, Feed, Filter, Hit, Item, ItemMetadata, ItemPage, ItemQuery, Term
from pagekeep.store import Store
from pagekeep.text import count_words, fold, strip_markdown

SOURCE: Final = "feed inbox"
"""The source of an item that is an entry of the inbox."""
ALL: Final = frozenset({"*", "all"})
_SNIPPET_CHARS: Final = 200


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
    found = store.find_entries(
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
    if name in ALL:
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
    feeds = store.feeds()
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
        source=SOURCE,
        author=entry.author,
        saved_at=entry.found_at,
        published_at=entry.published_at,
        metadata=metadata,
        created_at=entry.found_at,
        updated_at=entry.updated_at,
    )
