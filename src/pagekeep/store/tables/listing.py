"""Pages of the library by key: a page begins after the last item of the one before, wherever that stands by now."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Final

from pagekeep.errors import InvalidQuery
from pagekeep.model import ItemFilter, ItemPage
from pagekeep.store.contract import Order
from pagekeep.store.engine import Transaction
from pagekeep.store.search.filters import Where
from pagekeep.store.search.query import Filter
from pagekeep.store.storable import clean_text
from pagekeep.store.tables.items import SELECT, item_of

MOST: Final = 1_000
"""Items of a page."""
_MOST_NUMBER: Final = 2**62
"""A forged key may hold any number, the engines' integers have 64 bits."""
_ORDERS: Final[dict[Order, str]] = {
    "saved": "i.saved_at",
    "opened": "COALESCE(i.last_opened_at, '')",
    "title": "i.title_key",
    "published": "COALESCE(i.published_at, '')",
}


def _where(user_id: str, wanted: ItemFilter) -> Where:
    where = Where(user_id)
    where.add_filter(Filter("is", "deleted", negated=not wanted.deleted))
    for name, flag in (("pinned", wanted.pinned), ("archived", wanted.archived)):
        if flag is not None:
            where.add_filter(Filter("is", name, negated=not flag))
    named = (("domain", wanted.domain), ("quality", wanted.quality), ("after", wanted.saved_after))
    for name, value in (*named, ("before", wanted.saved_before), *(("tag", tag) for tag in wanted.tags)):
        if value is not None:
            where.add_filter(Filter(name, value))
    return where


def list_items(
    tx: Transaction, wanted: ItemFilter, *, order: Order, descending: bool, limit: int, after: str | None
) -> ItemPage:
    """One page."""
    limit = max(1, min(limit, MOST))
    where = _where(tx.user_id, wanted)
    column, way, sign = _ORDERS[order], *(("DESC", "<") if descending else ("ASC", ">"))
    if after is not None:
        where.add(f"({column}, i.id) {sign} ({{0}}, {{1}})", *read_key(after, [order, descending], str, str))
    rows = tx.all(f"{SELECT} WHERE {where} ORDER BY {column} {way}, i.id {way} LIMIT {limit + 1}", **where.values)
    items = tuple(item_of(row) for row in rows[:limit])
    if len(rows) <= limit:
        return ItemPage(items, None)
    last = tx.all(f"SELECT {column}, i.id FROM items i WHERE i.seq = :seq", seq=rows[limit - 1][-1])[0]
    return ItemPage(items, write_key([order, descending], *last))


def write_key(kind: list[Any], *values: Any) -> str:
    """Where the next page begins, as opaque text."""
    return base64.urlsafe_b64encode(json.dumps([kind, *values]).encode()).decode().rstrip("=")


def read_key(key: str, kind: list[Any], *types: type) -> list[Any]:
    """The values of a key that was written for the same kind of list."""
    try:
        found, *values = json.loads(base64.urlsafe_b64decode(key.encode() + b"=="))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        found, values = None, []
    fits = found == kind and len(values) == len(types) and all(map(isinstance, values, types))
    if not fits or not all(0 <= value < _MOST_NUMBER for value in values if isinstance(value, int)):
        raise InvalidQuery("That is no key of a page of this list.", suggestions=("Begin with the first page.",))
    return [clean_text(value) if isinstance(value, str) else value for value in values]
