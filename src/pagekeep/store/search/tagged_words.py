"""Find the words of a search in the tags of items.

A library has few tags beside the words of its texts, so these are compared with the tags themselves: no text has to be indexed
again when an item gets a tag, or when a tag of many items is renamed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pagekeep.model import Filter, ItemQuery, Term
from pagekeep.store.engine import Transaction
from pagekeep.store.search.filters import Where
from pagekeep.store.search.indexed_text import padded, tag_words

MAX_TAGS: Final = 300
"""Tags that the words of a search may match; SQLite allows 999 parameters. Those that most items have count."""
_UNCOUNTED: Final = frozenset({Filter("is", "deleted"), Filter("is", "failed"), Filter("is", "fetch-again")})
"""Filters that find items whose tags are not counted."""
_LIST_LENGTH: Final = 100
_FIRST_RANGE: Final = 2**14
"""Numbers of items that are searched at first for several words; each further range has eight times as many."""
_HAS_TAG: Final = (
    "EXISTS (SELECT 1 FROM item_tags t WHERE t.user_id = i.user_id AND t.item_id = i.id AND t.tag IN ({}))"
)
Tagged = Mapping[Term, tuple[str, ...]]
"""Term to the keys of the tags that have its words."""


def find_tags(tx: Transaction, terms: Sequence[Term], filters: tuple[Filter, ...]) -> Tagged:
    """Return the tags of the library that have the words of each of these terms, in a row."""
    if not terms:
        return {}
    values = {f"w{number}": f"%{max(term.words, key=len)}%" for number, term in enumerate(terms)}
    if _UNCOUNTED.isdisjoint(filters):
        table, key, order = "item_counts", "key", "AND kind = 'tag' ORDER BY count DESC, key"
    else:
        table, key, order = "(SELECT DISTINCT user_id, tag FROM item_tags) t", "tag", "ORDER BY tag"
    like = " OR ".join(f"{key} LIKE :{name}" for name in values)
    rows = tx.all(f"SELECT {key} FROM {table} WHERE user_id = :user AND ({like}) {order}", user=tx.user_id, **values)
    tags = [(str(row[0]), f" {tag_words(row[0])} ") for row in rows]
    most = MAX_TAGS // len(terms)
    found = {term: tuple(tag for tag, text in tags if padded(term) in text)[:most] for term in terms}
    return {term: keys for term, keys in found.items() if keys}


def exclude_tags(where: Where, tagged: Tagged) -> None:
    """Add the condition that an item has none of these tags."""
    keys = tuple(dict.fromkeys(key for found in tagged.values() for key in found))
    if keys:
        where.add(f"NOT {_HAS_TAG.format(', '.join(f'{{{number}}}' for number in range(len(keys))))}", *keys)


def find_tagged(
    tx: Transaction, query: ItemQuery, where: Where, tagged: Tagged, *, top: int, bottom: int, limit: int
) -> list[int]:
    """Return the numbers of items, newest first, that have a term of the query in their tags and the others anywhere."""
    values = {**where.values}
    names = {f"tag{at}": key for at, key in enumerate(dict.fromkeys(key for keys in tagged.values() for key in keys))}
    parts = [str(where)]
    parts += [f"i.seq NOT IN ({tx.select_term(term, values, f'x{at}')})" for at, term in enumerate(query.excluded)]
    for number, term in enumerate(query.terms if len(query.terms) > 1 else ()):
        found = f"i.seq IN ({tx.select_term(term, values, f't{number}')})"
        own = [f":{name}" for name, key in names.items() if key in tagged.get(term, ())]
        parts.append(f"({_HAS_TAG.format(', '.join(own))} OR {found})" if own else found)
    sql = (
        "SELECT i.seq FROM (SELECT DISTINCT n.seq FROM item_tags t JOIN items n ON n.user_id = t.user_id AND n.id = t.item_id "
        f"WHERE t.user_id = :user AND t.tag IN ({', '.join(f':{name}' for name in names)}) AND n.seq < :top "
        f"AND n.seq >= :bottom) m JOIN items i ON i.seq = m.seq WHERE {' AND '.join(parts)} ORDER BY i.seq DESC LIMIT :limit"
    )
    seqs: list[int] = []
    # One word is looked up in the tags alone; of several, the others may be common: the newest items come first.
    reach = _FIRST_RANGE if len(query.terms) + len(query.excluded) > 1 else top
    while top > bottom and len(seqs) < limit:
        begin = max(bottom, top - reach)
        rows = tx.all(sql, **values | names | {"top": top, "bottom": begin, "limit": limit - len(seqs)})
        seqs += [int(row[0]) for row in rows]
        top, reach = begin, reach * 8
    return seqs


def tags_of(tx: Transaction, seqs: Sequence[int]) -> dict[int, list[str]]:
    """Return the keys of the tags of items, by their numbers."""
    found: dict[int, list[str]] = defaultdict(list)
    for begin in range(0, len(seqs), _LIST_LENGTH):
        part = list(seqs[begin : begin + _LIST_LENGTH])
        names = {f"n{at}": seq for at, seq in enumerate([*part, *part[:1] * (_LIST_LENGTH - len(part))])}
        rows: list[Any] = tx.all(
            "SELECT i.seq, t.tag FROM items i JOIN item_tags t ON t.user_id = i.user_id AND t.item_id = i.id "
            f"WHERE i.user_id = :user AND i.seq IN ({', '.join(f':{name}' for name in names)}) ORDER BY i.seq, t.tag",
            user=tx.user_id,
            **names,
        )
        for seq, tag in rows:
            found[int(seq)].append(str(tag))
    return found
