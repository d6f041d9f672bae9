"""The items before and after an item in a list, whatever its order, and however long it is."""

from __future__ import annotations

from itertools import islice
from typing import Final

from pagekeep.model import ItemQuery
from pagekeep.model.reading import ItemLink, Neighbours
from pagekeep.store.engine import Transaction
from pagekeep.store.search.filters import where_of
from pagekeep.store.storable import clean_id
from pagekeep.store.table import Table, reads
from pagekeep.store.tables.find import ORDER_COLUMNS, TIMES
from pagekeep.store.tables.search import MAX_SECONDS, first_free, walk_places

_MAX_HITS: Final = 400
"""Hits of a search that are walked to find an item; further down, it has no neighbours."""


class NeighbourTable(Table):
    """The neighbours of a user's items."""

    @reads
    def neighbours(self, tx: Transaction, query: ItemQuery, item_id: str) -> Neighbours:
        """Return what is before and after an item in the list of a query; nothing when it is not in the list.

        In a list that is sorted by a field, an item has neighbours even if it has left the list since.
        """
        rows = tx.all("SELECT seq FROM items WHERE user_id = :user AND id = :id", user=tx.user_id, id=clean_id(item_id))
        if not rows:
            return Neighbours()
        if query.order == "relevance" or query.terms or query.excluded:
            return _in_search(tx, query, rows[0][0])
        return Neighbours(
            _beside(tx, query, rows[0][0], backwards=True), _beside(tx, query, rows[0][0], backwards=False)
        )


def _beside(tx: Transaction, query: ItemQuery, seq: int, *, backwards: bool) -> ItemLink | None:
    where = where_of(tx.user_id, query.filters)
    if query.order == "relevance":
        return None
    column = ORDER_COLUMNS[query.order].format(no_time=tx.no_time)
    value, item_id = tx.all(f"SELECT {column}, i.id FROM items i WHERE i.seq = :seq", seq=seq)[0]
    direction, sign = ("DESC", "<") if query.descending != backwards else ("ASC", ">")
    where.add(
        f"({column}, i.id) {sign} ({{0}}, {{1}})", value or (tx.no_time if query.order in TIMES else value), item_id
    )
    order = f"{column} {direction}, i.id {direction}"
    rows = tx.all(f"SELECT i.id, i.title FROM items i WHERE {where} ORDER BY {order} LIMIT 1", **where.values)
    return ItemLink(str(rows[0][0]), rows[0][1]) if rows else None


def _in_search(tx: Transaction, query: ItemQuery, seq: int) -> Neighbours:
    tx.limit_time(MAX_SECONDS)
    seqs = [place.seq for place in islice(walk_places(tx, query, first_free(tx), None), _MAX_HITS)]
    if seq not in seqs:
        return Neighbours()
    at = seqs.index(seq)
    previous = _link(tx, seqs[at - 1]) if at else None
    return Neighbours(previous, _link(tx, seqs[at + 1]) if at + 1 < len(seqs) else None)


def _link(tx: Transaction, seq: int) -> ItemLink:
    item_id, title = tx.all("SELECT id, title FROM items WHERE seq = :seq", seq=seq)[0]
    return ItemLink(str(item_id), title)
