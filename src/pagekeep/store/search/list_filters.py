"""`list:` in a query: a manual list becomes a condition on its items, a saved search the search itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pagekeep.errors import InvalidQuery
from pagekeep.model import ItemQuery, Term
from pagekeep.model.tags import tag_key
from pagekeep.store.engine import Transaction
from pagekeep.store.search.narrow import expand_names
from pagekeep.store.search.query import MAX_TERMS, parse_query
from pagekeep.store.storable import clean_id, clean_text

_MAX_DEPTH: Final = 5
"""Saved searches that name others; more is a circle."""


def expand(tx: Transaction, query: ItemQuery) -> ItemQuery:
    """Return the query with lists and names of authors replaced by what they mean in this library."""
    return expand_names(tx, expand_lists(tx, query))


def expand_lists(tx: Transaction, query: ItemQuery, depth: int = 0) -> ItemQuery:
    """Return the query with its lists replaced by what they mean; `InvalidQuery` when there is no such list."""
    if not any(filter.name == "list" for filter in query.filters):
        return query
    if depth == _MAX_DEPTH:
        raise InvalidQuery("The saved searches name each other.", suggestions=("Remove `list:` from one of them.",))
    terms, excluded = list[Term](query.terms), list[Term](query.excluded)
    filters = [filter for filter in query.filters if filter.name != "list"]
    for filter in query.filters:
        if filter.name != "list":
            continue
        list_id, kind, text = _find(tx, filter.value)
        if kind == "manual":
            filters.append(replace(filter, value=list_id))
            continue
        if filter.negated:
            raise InvalidQuery(
                f"`-list:{filter.value:.40}` is a saved search, which cannot be excluded.",
                suggestions=("Use `-list:` with a list that you fill yourself.",),
            )
        inner = expand_lists(tx, parse_query(text), depth + 1)
        terms += inner.terms
        excluded += inner.excluded
        filters += inner.filters
    return replace(
        query,
        terms=tuple(dict.fromkeys(terms))[:MAX_TERMS],
        excluded=tuple(dict.fromkeys(excluded))[:MAX_TERMS],
        filters=tuple(dict.fromkeys(filters)),
    )


def list_key(name: str) -> str:
    """Return the form by which names of lists are equal, whatever their case and accents."""
    return tag_key(clean_text(name))


def _find(tx: Transaction, name: str) -> tuple[str, str, str]:
    rows = tx.all(
        "SELECT id, kind, query FROM lists WHERE user_id = :user AND (name_key = :key OR id = :id) ORDER BY id LIMIT 1",
        user=tx.user_id,
        key=list_key(name),
        id=clean_id(name),
    )
    if not rows:
        raise InvalidQuery(f"There is no list {name:.80}.", suggestions=("Look for its name in your lists.",))
    list_id, kind, query = rows[0]
    return str(list_id), kind, query
