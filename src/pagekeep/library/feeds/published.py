"""Feeds out: a list or search of the library that others read as a feed. Doors give it an address with a token."""

from __future__ import annotations

from typing import Final

from pagekeep import clock
from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library.items import asks_for_feeds
from pagekeep.model import ItemPage, ItemQuery, PublishedFeed
from pagekeep.store import Store, parse_query
from pagekeep.text import one_line

PAGE_ITEMS: Final = 30
"""Items on one page of a feed; the next page has older ones."""
MAX_TITLE_CHARS: Final = 80


def describe(title: str, query: str) -> tuple[str, str]:
    """Return the title and the query of a feed as they are stored; `InvalidQuery` when the query cannot be published."""
    query = " ".join(query.split())
    if asks_for_feeds(parse_query(query)):
        raise InvalidQuery("The feed inbox cannot be published.", suggestions=("Leave `feed:` out.",))
    return one_line(title)[:MAX_TITLE_CHARS] or query[:MAX_TITLE_CHARS] or "Library", query


def add_published(store: Store, token_id: str, title: str, query: str) -> PublishedFeed:
    """Store what the feed of a token shows."""
    feed = PublishedFeed(token_id, title, query, clock.now())
    store.publish(feed)
    return feed


def list_published(store: Store) -> tuple[PublishedFeed, ...]:
    """Return the published feeds, oldest first."""
    return store.published_feeds()


def get_published(store: Store, token_id: str) -> PublishedFeed:
    """Return what the feed of a token shows; `NotFound` when there is no such feed."""
    for feed in store.published_feeds():
        if feed.id == token_id:
            return feed
    raise NotFound("There is no such feed.")


def remove_published(store: Store, token_id: str) -> None:
    """Forget what the feed of a token shows."""
    store.unpublish(token_id)


def list_items(store: Store, feed: PublishedFeed, after: str | None = None) -> ItemPage:
    """Return one page of the items of a feed: last saved first, or best first if it searches for words.

    Deleted items are never shown.
    """
    query = parse_query(feed.query, limit=PAGE_ITEMS, after=after)
    filters = tuple(one for one in query.filters if (one.name, one.value) != ("is", "deleted"))
    if query.terms or query.excluded:
        return store.find(
            ItemQuery(query.terms, query.excluded, filters, "relevance", limit=PAGE_ITEMS, after=after, text=query.text)
        )
    return store.find(ItemQuery(filters=filters, order="saved", limit=PAGE_ITEMS, after=after))
