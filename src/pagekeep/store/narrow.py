"""How a list is found in a large library: names and `list:` become conditions, and the rarest filter goes first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from pagekeep.errors import InvalidQuery
from pagekeep.model import Filter, ItemQuery, Term
from pagekeep.model.tags import tag_key
from pagekeep.store.engine import Transaction
from pagekeep.store.filters import NAME_END, Where, published_range, where_of
from pagekeep.store.query import MAX_TERMS, parse_query, words
from pagekeep.store.storable import clean_id, clean_text, domain_key

FEW: Final = 2_000
"""Items that are sorted rather than looked for along the order: a walk to a page of 50 then passes about as many."""
_MAX_AUTHORS: Final = 400
"""Authors whose names a filter may match; SQLite allows 999 parameters."""
_MAX_NAMES: Final = 50_000
"""Names that are compared with a filter."""


def expand_names(tx: Transaction, query: ItemQuery) -> ItemQuery:
    """Return the query with `author:` replaced by the names in the library that have its words."""
    if not any(filter.name == "author" and NAME_END not in filter.value for filter in query.filters):
        return query
    filters = (
        replace(filter, value=_find_authors(tx, filter.value)) if filter.name == "author" else filter
        for filter in query.filters
    )
    return replace(query, filters=tuple(filters))


def _find_authors(tx: Transaction, text: str) -> str:
    """Return the names with all words of the text, each followed by its mark; a word may be the beginning of one."""
    if NAME_END in text:
        return text
    wanted = [f" {word}" for word in words(text)]
    rows = tx.all(
        f"SELECT key FROM item_counts WHERE user_id = :user AND kind = 'author' ORDER BY count DESC, key LIMIT {_MAX_NAMES}"
    )
    names = (name for (name,) in rows if wanted and all(word in _folded(name) for word in wanted))
    found = [name for name, _ in zip(names, range(_MAX_AUTHORS), strict=False)]
    return "".join(f"{name}{NAME_END}" for name in found) or NAME_END


def _folded(name: str) -> str:
    return f" {' '.join(words(name))}"


def walked_tag(tx: Transaction, query: ItemQuery) -> str | None:
    """Return the key of the rarest tag along whose items, in the order they were saved, a list can be read."""
    if query.order != "saved" or Filter("is", "deleted") in query.filters:
        return None
    tags = [tag_key(clean_text(one.value)) for one in query.filters if one.name == "tag" and not one.negated]
    return min(tags, key=lambda tag: kept_count(tx, "tag", tag)) if len(tags) > 1 else next(iter(tags), None)


def narrowed(tx: Transaction, filters: tuple[Filter, ...], *, without: str = "") -> Where:
    """Return the condition that all filters hold; where one of them leaves few items, these are looked up first.

    Filters of the kind `without` are not looked up: the caller reads along them.
    """
    where = where_of(filters)
    if Filter("is", "deleted") in filters:
        return where
    chosen = [filter for filter in filters if not filter.negated and filter.name != without]
    sets = [found for found in (_select(tx, filter) for filter in chosen) if found]
    if sets:
        _, sql, value = min(sets, key=lambda found: found[0])
        where.add(f"i.seq IN ({sql})", *value)
        where.few = True
        where.parts[0] = "i.user_id || '' = :user"  # else SQLite walks along the index of the order all the same
    return where


def _select(tx: Transaction, filter: Filter) -> tuple[int, str, tuple[Any, ...]] | None:
    """Return how many items a filter leaves and the query for their numbers; `None` for many, or without an index."""
    value = clean_text(filter.value)
    if filter.name == "tag":
        count = kept_count(tx, "tag", tag_key(value))
        sql = (
            "SELECT n.seq FROM item_tags t JOIN items n ON n.user_id = t.user_id AND n.id = t.item_id "
            "WHERE t.user_id = :user AND t.tag = {0}"
        )
        return (count, sql, (tag_key(value),)) if count <= FEW else None
    if filter.name == "is" and value in ("reading", "read"):
        count = kept_count(tx, "state", value)
        sql = (
            "SELECT n.seq FROM reading_states t JOIN items n ON n.user_id = t.user_id AND n.id = t.item_id "
            "WHERE t.user_id = :user AND t.state = {0}"
        )
        return (count, sql, (value,)) if count <= FEW else None
    if filter.name == "quality":
        count = kept_count(tx, "quality", value)
        sql = "SELECT n.seq FROM items n WHERE n.user_id = :user AND n.quality = {0}"
        return (count, sql, (value,)) if count <= FEW else None
    if filter.name == "author":
        names = tuple(name for name in value.split(NAME_END) if name)
        count = sum(kept_count(tx, "author", name) for name in names)
        marks = ", ".join(f"{{{number}}}" for number in range(len(names)))
        sql = f"SELECT n.seq FROM items n WHERE n.user_id = :user AND n.author_key IN ({marks})"
        return (count, sql, names) if names and count <= FEW else None
    if filter.name == "domain":
        key = domain_key(value)
        return _select_range(tx, "domain_key", key, key[:-1] + "/")
    if (published := published_range(filter)) is not None:
        return _select_range(tx, "published_sort", *published)
    return None


def _select_range(tx: Transaction, column: str, first: str, last: str) -> tuple[int, str, tuple[Any, ...]] | None:
    """Return what `_select` does, for the values of an indexed column from the first to before the last."""
    sql = f"SELECT n.seq FROM items n WHERE n.user_id = :user AND n.{column} >= {{0}} AND n.{column} < {{1}}"
    few = sql.format(":first", ":last") + f" LIMIT {FEW + 1}"
    count = int(tx.all(f"SELECT COUNT(*) FROM ({few}) few", first=first, last=last)[0][0])
    return (count, sql, (first, last)) if count <= FEW else None


def kept_count(tx: Transaction, kind: str, key: str) -> int:
    """Return a count that the database keeps."""
    rows = tx.all(
        "SELECT count FROM item_counts WHERE user_id = :user AND kind = :kind AND key = :key", kind=kind, key=key
    )
    return int(rows[0][0]) if rows else 0


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
        key=list_key(name),
        id=clean_id(name),
    )
    if not rows:
        raise InvalidQuery(f"There is no list {name:.80}.", suggestions=("Look for its name in your lists.",))
    list_id, kind, query = rows[0]
    return str(list_id), kind, query
