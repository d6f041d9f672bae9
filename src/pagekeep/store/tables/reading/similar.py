"""Items that share rare words with an item.

Each word gives at most some hundred items, the newest, and a word that many items have counts little: the work is bounded in a
library of any size, and the same library gives the same result.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from pagekeep.model import ItemQuery
from pagekeep.model.reading import SimilarItem
from pagekeep.store.engine import Transaction
from pagekeep.store.search.filters import where_of
from pagekeep.store.search.indexed_text import FIELD_END
from pagekeep.store.search.search_words import words
from pagekeep.store.storable import clean_id
from pagekeep.store.table import Table, reads
from pagekeep.store.tables.items import SELECT, item_of

MAX_WORDS: Final = 16
_PER_WORD: Final = 400
"""Items that are looked at for one word; one that has as many says little."""
_CANDIDATES: Final = 30
"""Items whose texts are compared."""
_MAX_SEQ: Final = 2**62
_MIN_SHARED: Final = 2
_MIN_SCORE: Final = 0.2
"""Pairs of the demo library with less than this have only chance words in common."""
_USUAL_LENGTH: Final = 4_000
"""Characters: in a body of this length, a word must occur twice to count two thirds."""
_MAX_SECONDS: Final = 3.0


class SimilarTable(Table):
    """Similar items of a user."""

    @reads
    def similar(
        self, tx: Transaction, item_id: str, weights: Mapping[str, float], limit: int = 5
    ) -> tuple[SimilarItem, ...]:
        """Return the items that have most of these weighted words, best first; the item itself is left out."""
        own = tx.all("SELECT seq FROM items WHERE user_id = :user AND id = :id", user=tx.user_id, id=clean_id(item_id))
        if not own:
            return ()
        tx.limit_time(_MAX_SECONDS)
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


def _find_words(tx: Transaction, weights: Mapping[str, float]) -> dict[str, list[int]]:
    found = {}
    for word in list(weights)[:MAX_WORDS]:
        if " ".join(words(word)) != word:  # nothing else is in the index
            continue
        rows = tx.all(tx.word_matches, word=word, user=tx.user_id, limit=_PER_WORD)
        if rows:
            found[word] = [row[0] for row in rows]
    return found


def _compare(tx: Transaction, seqs: list[int], rarity: Mapping[str, float], limit: int) -> tuple[SimilarItem, ...]:
    """Return the best of some items, by how often and where they have the words."""
    where = where_of(tx.user_id, ())
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
    length = len(body) / _USUAL_LENGTH
    parts = {}
    for word, weight in rarity.items():
        times = body.count(f" {word} ")
        if f" {word} " in head:
            parts[word] = weight
        elif times:
            parts[word] = weight * times / (times + 1 + length)
    return parts
