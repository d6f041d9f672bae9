"""The search words of annotations: one row for each word of a quote or note, the same on both engines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pagekeep.model import Annotation
from pagekeep.store.engine import Transaction
from pagekeep.store.search.search_words import words

_INSERT: Final = (
    "INSERT INTO annotation_words (user_id, word, created_at, annotation_id) VALUES (:user, :word, :time, :id) "
    "ON CONFLICT DO NOTHING"
)
_MAX_WORDS: Final = 400
"""Distinct words of one annotation that are searched."""
_BATCH: Final = 500
"""Annotations that are indexed at a time."""


def index_words(tx: Transaction, annotations: Iterable[Annotation]) -> None:
    """Index the words of stored annotations in place of those they had."""
    rows = []
    for annotation in annotations:
        tx.run(
            "DELETE FROM annotation_words WHERE user_id = :user AND annotation_id = :id",
            user=tx.user_id,
            id=annotation.id,
        )
        rows += [
            {"user": tx.user_id, "word": word, "time": annotation.created_at, "id": annotation.id}
            for word in _distinct_words(annotation)
        ]
    if rows:
        tx.many(_INSERT, rows)


def _distinct_words(annotation: Annotation) -> list[str]:
    return list(dict.fromkeys(words(f"{annotation.quote}\n{annotation.note}")))[:_MAX_WORDS]


def index_all_words(tx: Transaction) -> None:
    """Index all annotations of the user, as after a restore."""
    last = "00000000-0000-0000-0000-000000000000"
    while rows := tx.all(
        "SELECT id, item_id, quote, before, after, note, colour, created_at, updated_at FROM annotations "
        f"WHERE user_id = :user AND id > :last ORDER BY id LIMIT {_BATCH}",
        user=tx.user_id,
        last=last,
    ):
        index_words(tx, [Annotation(*row) for row in rows])
        last = str(rows[-1][0])
