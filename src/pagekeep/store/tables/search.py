"""Full text search, ranked by relevance.

An item's rank depends on the query and the item only, so it does not change while other items come and go, and both engines
give the same. Items with all words in their heads come first, then the others; both newest first in windows that are ranked
within, which limits the work of a search in a library of any size.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import islice
from typing import Final, NamedTuple

from pagekeep.model import Hit, ItemPage, ItemQuery, Term
from pagekeep.store.engine import Transaction
from pagekeep.store.search.filters import Where
from pagekeep.store.search.indexed_text import FIELD_END, padded, tag_words, with_tags
from pagekeep.store.search.narrow import narrowed
from pagekeep.store.search.page_key import read_key, write_key
from pagekeep.store.search.snippet import snippet
from pagekeep.store.search.tagged_words import Tagged, exclude_tags, find_tagged, find_tags, tags_of
from pagekeep.store.tables.items import get_by_seq

WINDOW = 200
"""Items that are ranked against each other."""
MAX_SECONDS: Final = 10.0
"""Then a search is ended. In 100,000 items a plain one takes some hundredths of a second."""
MAX_HITS: Final = 200
"""Hits of one page: each has a snippet, which takes time."""
_TITLE_WEIGHT, _HEAD_WEIGHT = 4.0, 2.5
"""What a word counts in the title, and in author or tags; in the body it counts less than 1."""
_USUAL_LENGTH: Final = 8_000
"""Characters, about 1,300 words: in a body of this length a word must occur twice as often to count the same."""


class _Place(NamedTuple):
    """A place in the order of hits: part, window of the part, rank within the window."""

    part: int
    """0: all words in the head; 1: the others."""
    top: int
    bottom: int
    """The window holds items with `bottom <= seq < top`: it stays the same when items come and go."""
    rank: float
    seq: int


def search(tx: Transaction, query: ItemQuery) -> ItemPage:
    """Return one page of hits; items that were added after the first page was read are not on the later ones."""
    tx.limit_time(MAX_SECONDS)
    limit, kind = max(1, min(query.limit, MAX_HITS)), ["search", query.text]
    begin = None
    if query.after is None:
        newest = first_free(tx)
    else:
        newest, *values = read_key(query.after, kind, int, int, int, int, float, int)
        begin = _Place(*values)
    places = list(islice(walk_places(tx, query, newest, begin), limit + 1))
    key = write_key(kind, newest, *places[limit - 1]) if len(places) > limit else None
    return ItemPage(tuple(_hits(tx, query, places[:limit])), key)


def first_free(tx: Transaction) -> int:
    """Return a number above those of all items of the user; on SQLite of all users, which takes no look at the items."""
    return int(tx.all("SELECT COALESCE(MAX(seq), 0) + 1 FROM items")[0][0])


def walk_places(tx: Transaction, query: ItemQuery, newest: int, begin: _Place | None) -> Iterator[_Place]:
    """Yield all hits after `begin`, best first; windows are fetched when they are reached."""
    part, top, bottom = (0 if query.terms else 1, newest, None) if begin is None else begin[:3]
    tagged = find_tags(tx, query.terms, query.filters)
    excluded = find_tags(tx, query.excluded, query.filters)
    while part < 2:  # A forged key may begin at any part above; there is nothing then.
        where = narrowed(tx, query.filters)
        exclude_tags(where, excluded)
        bottom, window = _window(tx, query, where, tagged, part, top, bottom)
        yield from (place for place in window if begin is None or _follows(place, begin))
        begin = None
        part, top, bottom = (part, bottom, None) if bottom else (part + 1, newest, None)


def _follows(place: _Place, begin: _Place) -> bool:
    return (-place.rank, -place.seq) > (-begin.rank, -begin.seq)


def _window(
    tx: Transaction, query: ItemQuery, where: Where, tagged: Tagged, part: int, top: int, bottom: int | None
) -> tuple[int, list[_Place]]:
    """Return where a window ends, and its items by rank; without `bottom` it reaches down as far as `WINDOW` allows."""
    rows = tx.candidates(query, where, head=part == 0, top=top, bottom=bottom or 0, limit=WINDOW)
    ends = [rows[-1][0]] if len(rows) == WINDOW else []
    if tagged and (part == 0 or len(query.terms) > 1):  # one word in a tag is in the head
        seqs = find_tagged(tx, query, where, tagged, top=top, bottom=bottom or 0, limit=WINDOW)
        ends += [seqs[-1]] if len(seqs) == WINDOW else []
        rows += _read_words(tx, set(seqs).difference(row[0] for row in rows))
    bottom = max(ends, default=0) if bottom is None else bottom
    rows = [row for row in rows if row[0] >= bottom]
    if tagged:
        rows = _with_tags(tx, query.terms, rows, in_head=part == 0)
    places = [_Place(part, top, bottom, rank(query.terms, head, body), seq) for seq, head, body in rows]
    return bottom, sorted(places, key=lambda place: (-place.rank, -place.seq))


def _read_words(tx: Transaction, seqs: Set[int]) -> list[tuple[int, str, str]]:
    if not seqs:
        return []
    where = Where(tx.user_id)
    where.add(f"i.seq IN ({', '.join(f'{{{number}}}' for number in range(len(seqs)))})", *seqs)
    return tx.candidates(ItemQuery(), where, head=False, top=max(seqs) + 1, bottom=0, limit=len(seqs))


def _with_tags(
    tx: Transaction, terms: tuple[Term, ...], rows: list[tuple[int, str, str]], *, in_head: bool
) -> list[tuple[int, str, str]]:
    """Return the rows with the words of tags in their heads: those that have all terms there, or the others."""
    tags = tags_of(tx, [seq for seq, _, _ in rows])
    found = []
    for seq, own, body in rows:
        head = with_tags(own, tags.get(seq, ()))
        if all(padded(term) in f" {head} " for term in terms) == in_head:
            found.append((seq, head, body))
    return found


def rank(terms: tuple[Term, ...], head: str, body: str) -> float:
    """Return how well the item's words fit: where each term occurs, and how often for a text of this length."""
    title, _, rest = head.partition(FIELD_END)
    title, rest, body = f" {title} ", f" {rest} ", f" {body} "
    length = 1.0 + len(body) / _USUAL_LENGTH
    total = 0.0
    for term in terms:
        text = padded(term)
        times = body.count(text)
        total += _TITLE_WEIGHT * (text in title) + _HEAD_WEIGHT * (text in rest) + times / (times + length)
    return round(total, 9)


def has_words(tx: Transaction, query: ItemQuery, where: Where, seq: int) -> bool:
    """Return whether an item has all terms of a query and none that it excludes, by its own words and not the index."""
    rows = tx.candidates(ItemQuery(), where, head=False, top=seq + 1, bottom=seq, limit=1)
    texts = [f" {text} " for _, *found in rows for text in found]
    texts += [f" {tag_words(tag)} " for tag in tags_of(tx, [seq])[seq]]

    def occurs(term: Term) -> bool:
        return any(padded(term) in text for text in texts)

    return all(map(occurs, query.terms)) and not any(map(occurs, query.excluded))


def _hits(tx: Transaction, query: ItemQuery, places: list[_Place]) -> Iterator[Hit]:
    items = get_by_seq(tx, [place.seq for place in places])
    for place, item in zip(places, items, strict=True):
        yield Hit(item, snippet(query.terms, item), place.rank)
