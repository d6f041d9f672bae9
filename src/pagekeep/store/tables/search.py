"""Ranked full text, page by page.

An item's rank depends on the query and the item alone, so it does not move while others come and go, and both engines give
the same. First come items with all words in their heads, then the others; both newest first in windows that are ranked
within, which bounds the work of a search in a library of any size.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from pagekeep.model import Hit, HitPage
from pagekeep.store.engine import Transaction
from pagekeep.store.search.filters import Where
from pagekeep.store.search.indexed_text import FIELD_END
from pagekeep.store.search.query import Filter, Query, Term, parse
from pagekeep.store.search.snippet import snippet
from pagekeep.store.tables.items import SELECT, item_of
from pagekeep.store.tables.listing import read_key, write_key

WINDOW = 200
"""Items that are ranked against each other."""
MOST: Final = 200
"""Hits of a page."""
_TITLE, _HEAD = 4.0, 2.5
"""What a word counts in the title, and in author or tags; the most it can count in the body is 1."""


class _Place(NamedTuple):
    """A place in the order of hits: part, window of the part, rank within the window."""

    part: int
    """0: all words in the head; 1: the others."""
    top: int
    bottom: int
    """The window holds items with `bottom <= seq < top`: it stays the same when items come and go."""
    rank: float
    seq: int


def search(tx: Transaction, text: str, limit: int, after: str | None) -> HitPage:
    """One page of hits. Items that came after the first page was read are not on the later ones."""
    query = parse(text)
    limit = max(1, min(limit, MOST))
    begin = None
    if after is None:
        newest = int(tx.all("SELECT COALESCE(MAX(seq), 0) + 1 FROM items WHERE user_id = :user", user=tx.user_id)[0][0])
    else:
        newest, *values = read_key(after, ["search", text], int, int, int, int, float, int)
        begin = _Place(*values)
    places = list(islice(_places(tx, query, newest, begin), limit + 1))
    key = write_key(["search", text], newest, *places[limit - 1]) if len(places) > limit else None
    return HitPage(tuple(_hits(tx, query, places[:limit])), key)


def _places(tx: Transaction, query: Query, newest: int, begin: _Place | None) -> Iterator[_Place]:
    """All hits after `begin`, best first; windows are fetched as they are reached."""
    part, top, bottom = (0 if query.terms else 1, newest, None) if begin is None else begin[:3]
    while part < 2:  # A forged key may begin at any part above; there is nothing then.
        window = _window(tx, query, part, top, bottom)
        yield from (place for place in window if begin is None or _follows(place, begin))
        begin = None
        if bottom is None:
            bottom = min(place.bottom for place in window) if window else 0
        part, top, bottom = (part, bottom, None) if bottom else (part + 1, newest, None)


def _follows(place: _Place, begin: _Place) -> bool:
    return (-place.rank, -place.seq) > (-begin.rank, -begin.seq)


def _window(tx: Transaction, query: Query, part: int, top: int, bottom: int | None) -> list[_Place]:
    """The items of a window by rank; without `bottom` it reaches as far down as it may."""
    where = _where(tx.user_id, query)
    rows = tx.candidates(query, where, head=part == 0, top=top, bottom=bottom or 0, limit=WINDOW)
    if bottom is None:
        bottom = min(row[0] for row in rows) if len(rows) == WINDOW else 0
    places = [_Place(part, top, bottom, rank(query.terms, head, body), seq) for seq, head, body in rows]
    return sorted(places, key=lambda place: (-place.rank, -place.seq))


def _where(user_id: str, query: Query) -> Where:
    where = Where(user_id)
    if Filter("is", "deleted") not in query.filters:
        where.add_filter(Filter("is", "deleted", negated=True))
    for wanted in query.filters:
        where.add_filter(wanted)
    return where


def rank(terms: tuple[Term, ...], head: str, body: str) -> float:
    """How well the item's words fit: where each term stands, and how often for a text of this length."""
    title, _, rest = head.partition(FIELD_END)
    title, rest, body = f" {title} ", f" {rest} ", f" {body} "
    length = 1.0 + len(body) / 8_000
    total = 0.0
    for term in terms:
        wanted = f" {' '.join(term.words)}" + ("" if term.prefix else " ")
        times = body.count(wanted)
        total += _TITLE * (wanted in title) + _HEAD * (wanted in rest) + times / (times + length)
    return round(total, 9)


def _hits(tx: Transaction, query: Query, places: list[_Place]) -> Iterator[Hit]:
    for place in places:
        item = item_of(tx.all(f"{SELECT} WHERE i.seq = :seq", seq=place.seq)[0])
        yield Hit(item, snippet(query.terms, item), place.rank)
