"""Finding items: by filters in a sort order, by words ranked by relevance, beside an item, or similar to it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Any, Final, NamedTuple

from pagekeep.model import Filter, Hit, ItemPage, ItemQuery, Order, Term
from pagekeep.model.reading import ItemLink, Neighbours, SimilarItem
from pagekeep.model.tags import tag_key
from pagekeep.store.engine import Part, Transaction, read_page_key, read_page_time, reads, write_page_key
from pagekeep.store.filters import Where, where_of
from pagekeep.store.narrow import expand, kept_count, narrowed, walked_tag
from pagekeep.store.query import FIELD_END, padded, snippet, tag_words, with_tags, words
from pagekeep.store.storable import clean_id
from pagekeep.store.tables.item_rows import SELECT, get_by_seq, item_of

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


class Search(Part):
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
            begin, item_id = read_page_key(query.after, kind, str, str)
            if query.order in TIMES:
                begin = read_page_time(begin) or tx.no_time
            where.add(f"({column}, {key}) {sign} ({{0}}, {{1}})", begin, clean_id(item_id))
        order = f"{column} {direction}, {key} {direction}"
        skip = f" OFFSET {int(query.offset)}" if query.offset > 0 else ""
        # First the numbers, then the items: a sort then moves no texts.
        found = tx.all(
            f"SELECT {column}, i.id, i.seq FROM {source} WHERE {where} ORDER BY {order} LIMIT {limit + 1}{skip}",
            **where.values,
        )
        hits = tuple(Hit(item) for item in get_by_seq(tx, [row[-1] for row in found[:limit]]))
        return ItemPage(hits, write_page_key(kind, *found[limit - 1][:2]) if len(found) > limit else None)

    @reads
    def count(self, tx: Transaction, filters: tuple[Filter, ...]) -> int:
        """Return the number of items for which all filters hold."""
        if filters in _COUNTED:
            return kept_count(tx, "state", _COUNTED[filters])
        if len(filters) == 1 and filters[0].name == "tag" and not filters[0].negated:
            return kept_count(tx, "tag", tag_key(filters[0].value))
        filters = expand(tx, ItemQuery(filters=filters)).filters
        where = where_of(filters)
        return int(tx.all(f"SELECT COUNT(*) FROM items i WHERE {where}", **where.values)[0][0])

    @reads
    def matches(self, tx: Transaction, item_id: str, query: ItemQuery) -> bool:
        """Return whether the query finds the item. Only this item is looked at, however large the library is."""
        return item_matches(tx, item_id, query)

    @reads
    def expand(self, tx: Transaction, query: ItemQuery) -> ItemQuery:
        """Return the query with saved searches replaced by their terms and filters."""
        return expand(tx, query)

    @reads
    def neighbours(self, tx: Transaction, query: ItemQuery, item_id: str) -> Neighbours:
        """Return what is before and after an item in the list of a query; nothing when it is not in the list.

        In a list that is sorted by a field, an item has neighbours even if it has left the list since.
        """
        rows = tx.all("SELECT seq FROM items WHERE user_id = :user AND id = :id", id=clean_id(item_id))
        if not rows:
            return Neighbours()
        if query.order == "relevance" or query.terms or query.excluded:
            return _in_search(tx, query, rows[0][0])
        return Neighbours(
            _beside(tx, query, rows[0][0], backwards=True), _beside(tx, query, rows[0][0], backwards=False)
        )

    @reads
    def similar(
        self, tx: Transaction, item_id: str, weights: Mapping[str, float], limit: int = 5
    ) -> tuple[SimilarItem, ...]:
        """Return the items that have most of these weighted words, best first; the item itself is left out."""
        own = tx.all("SELECT seq FROM items WHERE user_id = :user AND id = :id", id=clean_id(item_id))
        if not own:
            return ()
        tx.limit_time(_MAX_SIMILAR_SECONDS)
        found = _find_words(tx, weights)
        rarity = {word: weights[word] * math.log(1 + _PER_WORD / len(seqs)) for word, seqs in found.items()}
        scores: dict[int, float] = defaultdict(float)
        shared: dict[int, int] = defaultdict(int)
        for word, seqs in found.items():
            for seq in seqs:
                scores[seq] += rarity[word]
                shared[seq] += 1
        scores.pop(own[0][0], None)
        likely = [seq for seq in scores if shared[seq] >= min(_MIN_SHARED, len(found))]
        best = sorted(likely, key=lambda seq: (-round(scores[seq], 9), -seq))[:_CANDIDATES]
        return _compare(tx, best, rarity, limit) if best else ()


def item_matches(tx: Transaction, item_id: str, query: ItemQuery) -> bool:
    """Return whether the query finds the item."""
    query = expand(tx, query)
    where = where_of(query.filters)
    where.add("i.id = {0}", clean_id(item_id))
    rows = tx.all(f"SELECT i.seq FROM items i WHERE {where}", **where.values)
    return bool(rows) and has_words(tx, query, where, int(rows[0][0]))


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
        newest, *values = read_page_key(query.after, kind, int, int, int, int, float, int)
        begin = _Place(*values)
    places = list(islice(walk_places(tx, query, newest, begin), limit + 1))
    key = write_page_key(kind, newest, *places[limit - 1]) if len(places) > limit else None
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
    where = Where()
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


_MAX_HITS: Final = 400
"""Hits of a search that are walked to find an item; further down, it has no neighbours."""


def _beside(tx: Transaction, query: ItemQuery, seq: int, *, backwards: bool) -> ItemLink | None:
    where = where_of(query.filters)
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


MAX_WORDS: Final = 16
_PER_WORD: Final = 400
"""Items that are looked at for one word; one that has as many says little."""
_CANDIDATES: Final = 30
"""Items whose texts are compared."""
_MAX_SEQ: Final = 2**62
_MIN_SHARED: Final = 2
_MIN_SCORE: Final = 0.2
"""Pairs of the demo library with less than this have only chance words in common."""
_USUAL_SIMILAR_LENGTH: Final = 4_000
"""Characters: in a body of this length, a word must occur twice to count two thirds."""
_MAX_SIMILAR_SECONDS: Final = 3.0


def _find_words(tx: Transaction, weights: Mapping[str, float]) -> dict[str, list[int]]:
    found = {}
    for word in list(weights)[:MAX_WORDS]:
        if " ".join(words(word)) != word:  # nothing else is in the index
            continue
        rows = tx.all(tx.word_matches, word=word, limit=_PER_WORD)
        if rows:
            found[word] = [row[0] for row in rows]
    return found


def _compare(tx: Transaction, seqs: list[int], rarity: Mapping[str, float], limit: int) -> tuple[SimilarItem, ...]:
    """Return the best of some items, by how often and where they have the words."""
    where = where_of(())
    marks = ", ".join(f"{{{number}}}" for number in range(len(seqs)))
    where.add(f"i.seq IN ({marks})", *seqs)
    rows = tx.candidates(ItemQuery(), where, head=False, top=_MAX_SEQ, bottom=0, limit=len(seqs))
    scored = []
    for seq, head, body in rows:
        parts = _score_words(rarity, head, body)
        score = round(sum(parts.values()) / sum(rarity.values()), 6)
        if score >= _MIN_SCORE:
            scored.append((-score, -seq, tuple(sorted(parts, key=lambda word: (-rarity[word], word)))))
    found = []
    for negative, minus, common in sorted(scored)[: max(1, limit)]:
        item = item_of(tx.all(f"{SELECT} WHERE i.seq = :seq", seq=-minus)[0])
        found.append(SimilarItem(item, -negative, common[:5]))
    return tuple(found)


def _score_words(rarity: Mapping[str, float], head: str, body: str) -> dict[str, float]:
    head = f" {head.replace(FIELD_END, ' ')} "
    body = f" {body} "
    length = len(body) / _USUAL_SIMILAR_LENGTH
    parts = {}
    for word, weight in rarity.items():
        times = body.count(f" {word} ")
        if f" {word} " in head:
            parts[word] = weight
        elif times:
            parts[word] = weight * times / (times + 1 + length)
    return parts


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
    rows = tx.all(f"SELECT {key} FROM {table} WHERE user_id = :user AND ({like}) {order}", **values)
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
            **names,
        )
        for seq, tag in rows:
            found[int(seq)].append(str(tag))
    return found
