"""The end of an upgrade: rebuilding what is derived from items and annotations, or reporting why it failed."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NoReturn

from pagekeep.errors import StoreError
from pagekeep.model.tags import unique_tags
from pagekeep.store.engine import Transaction
from pagekeep.store.tables import items
from pagekeep.store.tables.numbers import give_missing
from pagekeep.store.tables.reading.annotation_words import index_all_words

_BATCH: Final = 100
"""Items that are read at a time: each may have several megabytes."""


def reindex(tx: Transaction) -> None:
    """Rebuild the derived tables of the user: search words, tags, vocabulary, words of annotations, missing numbers.

    It runs after migrations, and after a restore, whose rows come without them. Counts follow by the triggers that keep them.
    """
    give_missing(tx)
    index_all_words(tx)
    last = -1
    while batch := tx.all(
        f"{items.SELECT} WHERE i.user_id = :user AND i.seq > :last ORDER BY i.seq LIMIT {_BATCH}",
        user=tx.user_id,
        last=last,
    ):
        for row in batch:
            try:
                item = items.item_of(row)
            except ValueError:  # a damaged row, which `check` reports, must not keep the others from being upgraded
                continue
            tags = unique_tags(item.metadata.tags)
            if tags != item.metadata.tags:  # earlier versions kept spellings of one tag as several
                merged = replace(item, metadata=replace(item.metadata, tags=tags))
                items.put_metadata(tx, item, merged, row[-1])
                item = merged
            items.index(tx, item, row[-1])
        last = batch[-1][-1]


def refuse_upgrade(old: int, new: int, error: Exception) -> NoReturn:
    """Raise a `StoreError` that says that the upgrade from schema `old` to `new` failed and changed nothing, and why."""
    if isinstance(error, StoreError):
        why, next_steps = error.message, error.suggestions
    else:
        why, next_steps = f"{type(error).__name__}: {error!s:.300}", ("Report this message.",)
    raise StoreError(
        f"The library could not be upgraded from schema {old} to {new}, and was not changed. {why}",
        suggestions=(*next_steps, "The version of Pagekeep that you used before still opens it."),
    ) from error
