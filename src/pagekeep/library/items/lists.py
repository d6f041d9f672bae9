"""Lists: saved searches and lists that the user fills and orders; and what others read of them as feeds."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Final, Literal

from pagekeep import clock
from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library.items.change import change_selected
from pagekeep.library.items.find import asks_for_feeds
from pagekeep.model import ItemPage, ItemQuery, PublishedFeed
from pagekeep.model.lists import Done, ItemChange, ItemList, ListPage
from pagekeep.store import Store, parse_query
from pagekeep.text import one_line

MAX_NAME_CHARS: Final = 100
MAX_COUNTED: Final = 1_000
"""Items of a list are counted up to this number."""
Move = Literal["up", "down", "top", "bottom"]


def add_list(store: Store, name: str, query: str | None = None) -> ItemList:
    """Add a list: a saved search with `query`, otherwise an empty one that the user fills."""
    now, kind = clock.now(), "manual" if query is None else "search"
    new = ItemList(
        str(uuid.uuid4()),
        _clean_name(name),
        "search" if kind == "search" else "manual",
        check_query(query or ""),
        now,
        now,
    )
    return store.lists.add(new)


def change_list(store: Store, key: str, *, name: str | None = None, query: str | None = None) -> ItemList:
    """Rename a list, or change the search of a saved search."""
    found = store.lists.get(key)
    if query is not None and found.kind == "manual":
        raise InvalidQuery("This list has no search: you fill it yourself.", suggestions=("Add a saved search.",))
    return store.lists.change(
        found.id,
        clock.now(),
        name=None if name is None else _clean_name(name),
        query=None if query is None else check_query(query),
    )


def remove_list(store: Store, key: str) -> ItemList:
    """Remove a list and return it; its items stay in the library."""
    found = store.lists.get(key)
    store.lists.remove(found.id)
    return found


def list_page(store: Store, found: ItemList, *, limit: int = 50, after: str | None = None) -> ListPage:
    """Return one page of a list: in the user's order, or as its search finds them, last saved or best first."""
    if found.kind == "manual":
        return store.lists.page(found.id, limit, after)
    query = store.search.expand(parse_query(found.query, limit=limit, after=after))
    if not query.terms and not query.excluded:
        query = ItemQuery(filters=query.filters, limit=limit, after=after)
    page = store.search.find(query)
    return ListPage(page.items, page.next)


def count_lists(store: Store) -> dict[str, int]:
    """Return how many items each manual list has, up to `MAX_COUNTED`."""
    return store.lists.counts(MAX_COUNTED)


def add_items(store: Store, key: str, ids: Sequence[str]) -> Done:
    """Add items at the end of a manual list, so that it can be undone."""
    found = get_manual(store, key)
    return change_selected(store, ids, ItemChange(add_to=(found.id,)), f"Added to the list {found.name}")


def remove_items(store: Store, key: str, ids: Sequence[str]) -> Done:
    """Remove items from a manual list, so that it can be undone."""
    found = get_manual(store, key)
    return change_selected(store, ids, ItemChange(remove_from=(found.id,)), f"Removed from the list {found.name}")


def move_item(store: Store, key: str, item_id: str, *, before: str | None) -> None:
    """Move an item of a manual list before another one, or to the end."""
    store.lists.move(get_manual(store, key).id, item_id, before)


def move_by(store: Store, key: str, item_id: str, move: Move) -> None:
    """Move an item of a manual list one place up or down, or to its top or bottom."""
    found, before = get_manual(store, key), store.items.get(item_id).id
    if move == "bottom":
        store.lists.move(found.id, before, None)
        return
    around = store.lists.neighbours(found.id, before)
    target = {"up": around.previous, "top": around.first, "down": around.after_next}[move]
    if move == "down" and around.next is None:
        return
    if move == "down" or target not in (None, before):
        store.lists.move(found.id, before, target)


def get_manual(store: Store, key: str) -> ItemList:
    """Return a manual list; `InvalidQuery` when it is a saved search."""
    found = store.lists.get(key)
    if found.kind != "manual":
        raise InvalidQuery(
            f"The list {found.name:.80} is a saved search, which finds its pages itself.",
            suggestions=("Change its search, or use a list that you fill yourself.",),
        )
    return found


def check_query(query: str) -> str:
    """Return a query as it is stored; `InvalidQuery` when it is not valid, or about the feed inbox."""
    query = " ".join(query.split())
    if asks_for_feeds(parse_query(query)):
        raise InvalidQuery("A list cannot show the feed inbox.", suggestions=("Leave `feed:` out.",))
    return query


def _clean_name(name: str) -> str:
    name = one_line(name)[:MAX_NAME_CHARS]
    if not name:
        raise InvalidQuery("The list has no name.", suggestions=("Enter one.",))
    return name


PAGE_ITEMS: Final = 30
"""Items on one page of a feed; the next page has older ones."""
MAX_FEED_TITLE_CHARS: Final = 80


def describe_published(title: str, query: str) -> tuple[str, str]:
    """Return the title and the query of a feed as they are stored; `InvalidQuery` when the query cannot be published."""
    query = " ".join(query.split())
    if asks_for_feeds(parse_query(query)):
        raise InvalidQuery("The feed inbox cannot be published.", suggestions=("Leave `feed:` out.",))
    return one_line(title)[:MAX_FEED_TITLE_CHARS] or query[:MAX_FEED_TITLE_CHARS] or "Library", query


def add_published(store: Store, token_id: str, title: str, query: str) -> PublishedFeed:
    """Store what the feed of a token shows."""
    feed = PublishedFeed(token_id, title, query, clock.now())
    store.feeds.publish(feed)
    return feed


def get_published(store: Store, token_id: str) -> PublishedFeed:
    """Return what the feed of a token shows; `NotFound` when there is no such feed."""
    for feed in store.feeds.published():
        if feed.id == token_id:
            return feed
    raise NotFound("There is no such feed.")


def list_published_items(store: Store, feed: PublishedFeed, after: str | None = None) -> ItemPage:
    """Return one page of the items of a feed: last saved first, or best first if it searches for words.

    Deleted items are never shown.
    """
    query = parse_query(feed.query, limit=PAGE_ITEMS, after=after)
    filters = tuple(one for one in query.filters if (one.name, one.value) != ("is", "deleted"))
    if query.terms or query.excluded:
        return store.search.find(
            ItemQuery(query.terms, query.excluded, filters, "relevance", limit=PAGE_ITEMS, after=after, text=query.text)
        )
    return store.search.find(ItemQuery(filters=filters, order="saved", limit=PAGE_ITEMS, after=after))
