"""What is next and previous in a list."""

from __future__ import annotations

from pagekeep.errors import InvalidQuery
from pagekeep.library.items import asks_for_feeds
from pagekeep.model import ItemQuery
from pagekeep.model.reading import Neighbours
from pagekeep.store import Store, parse_query


def find_neighbours(store: Store, item_id: str, listed: ItemQuery | str) -> Neighbours:
    """Return what is before and after an item in a list, or in the results of a text in the query language."""
    try:
        query = parse_query(listed) if isinstance(listed, str) else listed
        return Neighbours() if asks_for_feeds(query) else store.neighbours(query, item_id)
    except InvalidQuery:  # the list itself shows what is wrong
        return Neighbours()
