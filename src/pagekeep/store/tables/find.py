"""Finding items: by filters in a sort order, or by words ranked by relevance.

Pages follow each other by key and not by offset: nothing is skipped or repeated when items come and go meanwhile.
"""

from __future__ import annotations

from typing import Final

from pagekeep.model import Filter, Hit, ItemPage, ItemQuery, Order
from pagekeep.model.tags import tag_key
from pagekeep.store.engine import Transaction
from pagekeep.store.search.filters import where_of
from pagekeep.store.search.list_filters import expand
from pagekeep.store.search.narrow import kept_count, narrowed, walked_tag
from pagekeep.store.search.page_key import read_key, read_time, write_key
from pagekeep.store.storable import clean_id
from pagekeep.store.table import Table, reads
from pagekeep.store.tables.items import get_by_seq
from pagekeep.store.tables.search import has_words, search

MAX_ITEMS: Final = 1_000
"""Items of one page."""
ORDER_COLUMNS: Final[dict[Order, str]] = {
    "saved": "i.saved_at",
    "opened": "COALESCE(i.last_opened_at, '{no_time}')",
    "title": "i.title_key",
    "published": "i.published_sort",
    "updated": "i.updated_at",
}
"""What each order sorts by."""
TIMES: Final = ("saved", "opened", "published", "updated")
"""Orders whose keys are times; the one before all times is an empty text."""

_COUNTED: Final[dict[tuple[Filter, ...], str]] = {
    (): "all",
    (Filter("is", "archived"),): "archive",
    (Filter("is", "archived", negated=True),): "inbox",
}
"""Filters of lists whose number the database keeps; programs that synchronise ask for it with every page."""


class FindTable(Table):
    """Queries for items."""

    @reads
    def find(self, tx: Transaction, query: ItemQuery) -> ItemPage:
        """Return one page of the items that the query describes."""
        query = expand(tx, query)
        if query.order == "relevance" or query.terms or query.excluded:
            return search(tx, query)
        limit = max(1, min(query.limit, MAX_ITEMS))
        tag = walked_tag(tx, query)
        where, kind = narrowed(tx, query.filters, without="tag" if tag else ""), [query.order, query.descending]
        source, column, key = "items i", ORDER_COLUMNS[query.order].format(no_time=tx.no_time), "i.id"
        if tag is not None and not where.few:
            # CROSS JOIN: SQLite looks the items up in the order of the tag's index.
            source, column, key = "item_tags w CROSS JOIN items i", "w.saved_at", "w.item_id"
            where.add("w.user_id = :user AND w.tag = {0} AND i.user_id = w.user_id AND i.id = w.item_id", tag)
        direction, sign = ("DESC", "<") if query.descending else ("ASC", ">")
        if query.after is not None:
            begin, item_id = read_key(query.after, kind, str, str)
            if query.order in TIMES:
                begin = read_time(begin) or tx.no_time
            where.add(f"({column}, {key}) {sign} ({{0}}, {{1}})", begin, clean_id(item_id))
        order = f"{column} {direction}, {key} {direction}"
        skip = f" OFFSET {int(query.offset)}" if query.offset > 0 else ""
        # First the numbers, then the items: a sort then moves no texts.
        found = tx.all(
            f"SELECT {column}, i.id, i.seq FROM {source} WHERE {where} ORDER BY {order} LIMIT {limit + 1}{skip}",
            **where.values,
        )
        hits = tuple(Hit(item) for item in get_by_seq(tx, [row[-1] for row in found[:limit]]))
        return ItemPage(hits, write_key(kind, *found[limit - 1][:2]) if len(found) > limit else None)

    @reads
    def count(self, tx: Transaction, filters: tuple[Filter, ...]) -> int:
        """Return the number of items for which all filters hold."""
        if filters in _COUNTED:
            return kept_count(tx, "state", _COUNTED[filters])
        if len(filters) == 1 and filters[0].name == "tag" and not filters[0].negated:
            return kept_count(tx, "tag", tag_key(filters[0].value))
        filters = expand(tx, ItemQuery(filters=filters)).filters
        where = where_of(tx.user_id, filters)
        return int(tx.all(f"SELECT COUNT(*) FROM items i WHERE {where}", **where.values)[0][0])

    @reads
    def matches(self, tx: Transaction, item_id: str, query: ItemQuery) -> bool:
        """Return whether the query finds the item. Only this item is looked at, however large the library is."""
        return item_matches(tx, item_id, query)

    @reads
    def expand(self, tx: Transaction, query: ItemQuery) -> ItemQuery:
        """Return the query with saved searches replaced by their terms and filters."""
        return expand(tx, query)


def item_matches(tx: Transaction, item_id: str, query: ItemQuery) -> bool:
    """Return whether the query finds the item."""
    query = expand(tx, query)
    where = where_of(tx.user_id, query.filters)
    where.add("i.id = {0}", clean_id(item_id))
    rows = tx.all(f"SELECT i.seq FROM items i WHERE {where}", **where.values)
    return bool(rows) and has_words(tx, query, where, int(rows[0][0]))
