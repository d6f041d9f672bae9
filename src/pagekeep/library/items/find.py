"""Looking items up: one by its key or number, or many by a query."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from pagekeep import clock
from pagekeep.errors import NotFound
from pagekeep.library import normal_url
from pagekeep.model import Hit, Item, ItemQuery, RawPage, item_filters
from pagekeep.model.tags import tag_key
from pagekeep.store import Store, parse_query

MAX_NUMBER: Final = 2**31 - 1

_MAX_COUNTED: Final = 1_000
_MAX_READ: Final = 1_000
"""Items that the store returns at a time."""
_PAGE_ITEMS: Final = 200
"""Items read at a time: about 2 MB of text, and few enough queries."""


def get_item(store: Store, key: str) -> Item:
    """Return the item with this id, beginning of an id, or address in any form; `NotFound` when there is none."""
    is_whole = "://" in key or normal_url.is_mail(key)
    if not is_whole and "." not in key:  # an id has no dot, a host has one
        return store.items.get(key)
    item = store.items.by_url(normal_url.normalise(key if is_whole else f"https://{key}"))
    if item is None:
        raise NotFound(f"{key:.200} is not in the library.", suggestions=("Save it first.",))
    return item


def open_item(store: Store, key: str) -> Item:
    """Return the item and note that it was opened, unless the library is read-only."""
    item = get_item(store, key)
    return store.items.mark_opened(item.id, clock.now()) if store.writable else item


def related_items(store: Store, item: Item) -> tuple[Item, ...]:
    """Return the items of a message's attachments, or that of an attachment's message, without deleted ones."""
    keys = (*item.metadata.attachments, *filter(None, [item.metadata.part_of]))
    return tuple(other for other in store.items.get_many(keys) if other.deleted_at is None) if keys else ()


def get_raw(store: Store, key: str) -> RawPage | None:
    """Return the item's page as it was fetched, if it was kept; `NotFound` when there is no such item."""
    return store.items.raw(get_item(store, key).id)


def get_item_and_raw(store: Store, key: str) -> tuple[Item, RawPage]:
    """Return the item and its raw page; `NotFound` when the raw page was not kept."""
    item = get_item(store, key)
    raw = store.items.raw(item.id)
    if raw is None:
        raise NotFound(
            "The downloaded HTML of this page was not stored.", suggestions=("Retry the item to fetch it again.",)
        )
    return item, raw


def look_up_url(store: Store, url: str) -> Item | None:
    """Return the item for an address in any form, unless it is deleted."""
    item = store.items.by_url(normal_url.normalise(url))
    return item if item is not None and item.deleted_at is None else None


def item_matches(store: Store, item_id: str, text: str) -> bool:
    """Return whether a text in the query language finds this item; an empty text finds every item outside the trash.

    Only the item is looked at, not the library. `feed:` means here: kept from this feed. `InvalidQuery` for an invalid text.
    """
    return store.search.matches(item_id, parse_query(text))


def asks_for_feeds(query: ItemQuery) -> bool:
    """Return whether a query is about the feed inbox."""
    return any(filter.name == "feed" for filter in query.filters)


@dataclass(frozen=True, slots=True)
class ItemSlice:
    """Some of the items that a query finds, and how many there are in all."""

    items: tuple[Item, ...]
    total: int


def find_slice(store: Store, query: ItemQuery, offset: int, limit: int) -> ItemSlice:
    """Return the items from a place on, and the number of all, for programs that count pages.

    Of a search by words, the best 1,000 are counted.
    """
    query = store.search.expand(query)
    if query.terms or query.excluded:
        walked = _walk(store, replace(query, limit=_PAGE_ITEMS))
        hits = [hit.item for hit in islice(walked, _MAX_COUNTED)]
        return ItemSlice(tuple(hits[offset : offset + limit]), len(hits))
    query = replace(query, order="saved" if query.order == "relevance" else query.order)
    total = store.search.count(query.filters)
    items: list[Item] = []
    while offset < total and len(items) < limit:
        size = min(limit - len(items), _MAX_READ)
        part = store.search.find(replace(query, offset=offset + len(items), limit=size)).items
        items += part
        if len(part) < size:
            break
    return ItemSlice(tuple(items), total)


def search_slice(store: Store, text: str, offset: int, limit: int) -> ItemSlice:
    """Return the items from a place on that a text in the query language finds."""
    return find_slice(store, parse_query(text), offset, limit)


def is_empty(store: Store) -> bool:
    """Return whether the library has no item at all, not even a failed save or a deleted one."""
    lists = (item_filters(), item_filters(failed=True), item_filters(deleted=True))
    return not any(store.search.find(ItemQuery(filters=filters, limit=1)).hits for filters in lists)


def walk_items(
    store: Store, text: str | None = None, *, domain: str | None = None, limit: int | None = None
) -> Iterator[Item]:
    """Yield items that are not deleted, oldest saved first: all, those of a domain, or those that a search finds.

    Failed saves are among all, so that no address is missing in an export. The caller may change each item before the next.
    """
    if text is None:
        size = min(limit or _PAGE_ITEMS, _PAGE_ITEMS)
        lists = (item_filters(domain=domain), item_filters(domain=domain, failed=True))
        walks = (_walk(store, ItemQuery(filters=filters, descending=False, limit=size)) for filters in lists)
        merged = heapq.merge(*walks, key=lambda hit: (hit.item.saved_at, hit.item.id))
        return islice((hit.item for hit in merged), limit)
    hits = _walk(store, parse_query(text, limit=_PAGE_ITEMS))
    saved = sorted((hit.item.saved_at, hit.item.id) for hit in hits)
    return existing_items(store, [item_id for _, item_id in saved[:limit]])


def get_items(store: Store, ids: Sequence[str]) -> Iterator[Item]:
    """Yield the items with these ids that exist and are not deleted."""
    return (item for item in existing_items(store, ids) if item.deleted_at is None)


def existing_items(store: Store, ids: Sequence[str]) -> Iterator[Item]:
    """Yield items by their ids, deleted or not; those that were purged are left out."""
    for begin in range(0, len(ids), _PAGE_ITEMS):
        yield from store.items.get_many(ids[begin : begin + _PAGE_ITEMS])


def _walk(store: Store, query: ItemQuery) -> Iterator[Hit]:
    while True:
        page = store.search.find(query)
        yield from page.hits
        if page.next is None:
            return
        query = replace(query, after=page.next)


# Numbers, for programs that know only numbers of 32 bits


def number_items(store: Store, items: Iterable[Item]) -> dict[str, int]:
    """Return the numbers of items, by their ids. They stay the same in a restored library."""
    return store.items.numbers([item.id for item in items])


def get_numbered(store: Store, number: int) -> Item:
    """Return the item with this number; `NotFound` when there is none, or it is deleted."""
    item_id = store.items.by_number([number]).get(number)
    item = store.items.get(item_id) if item_id is not None else None
    if item is None or item.deleted_at is not None:
        raise NotFound(f"There is no item with the number {number}.")
    return item


def find_hashed(store: Store, hashes: Sequence[str]) -> dict[str, int]:
    """Return the numbers of the items whose address, normalised or as entered, has one of these SHA-1 hashes."""
    wanted = {value.lower() for value in hashes}
    found: dict[str, str] = {}
    for item_id, *urls in store.items.addresses():
        for url in urls:
            value = hash_address(url)
            if value in wanted:
                found[value] = item_id
    numbers = store.items.numbers(list(found.values()))
    return {value: numbers[item_id] for value, item_id in found.items() if item_id in numbers}


def hash_address(url: str) -> str:
    """Return the SHA-1 hash by which some programs look an address up."""
    return hashlib.sha1(url.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def tag_number(tag: str) -> int:
    """Return the number of a tag, the same for every spelling of it."""
    return int(hashlib.sha256(tag_key(tag).encode()).hexdigest()[:8], 16) & MAX_NUMBER
