"""Which items go out, oldest first, so that the same library gives the same files."""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.model import Item, ItemFilter
from pagekeep.store import Store

_AT_A_TIME = 200


def chosen(store: Store, query: str | None = None) -> Iterator[Item]:
    """Every item that is not deleted; with a query in the language of `pagekeep search`, those it finds."""
    if query is None:
        yield from _all(store)
        return
    for _, item_id in sorted(_found(store, query)):
        yield store.get(item_id)


def _all(store: Store) -> Iterator[Item]:
    after: str | None = None
    while True:
        page = store.list_items(ItemFilter(archived=None), descending=False, limit=_AT_A_TIME, after=after)
        yield from page.items
        after = page.next
        if after is None:
            return


def _found(store: Store, query: str) -> Iterator[tuple[str, str]]:
    after: str | None = None
    while True:
        page = store.search(query, limit=_AT_A_TIME, after=after)
        yield from ((hit.item.saved_at, hit.item.id) for hit in page.hits)
        after = page.next
        if after is None:
            return
