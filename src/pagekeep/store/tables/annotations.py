"""Passages that readers marked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pagekeep.errors import NotFound
from pagekeep.model import Annotation
from pagekeep.store.engine import Transaction
from pagekeep.store.storable import clean_text

COLUMNS: Final = ("id", "item_id", "quote", "before", "after", "note", "colour", "created_at", "updated_at")
_NAMES: Final = ", ".join(COLUMNS)


_INSERT: Final = (
    f"INSERT INTO annotations (user_id, {_NAMES}) VALUES (:user, {', '.join(f':{name}' for name in COLUMNS)})"
)


def _values(annotation: Annotation) -> dict[str, str]:
    values = {name: getattr(annotation, name) for name in COLUMNS}
    return {name: clean_text(value) if isinstance(value, str) else value for name, value in values.items()}


def put(tx: Transaction, annotation: Annotation) -> Annotation:
    """Add it, or change the one with its id."""
    values = _values(annotation)
    if not tx.all("SELECT 1 FROM items WHERE user_id = :user AND id = :id", user=tx.user_id, id=values["item_id"]):
        raise NotFound("There is no such item to mark a passage in.")
    tx.run(
        f"{_INSERT} ON CONFLICT (user_id, id) DO UPDATE SET quote = excluded.quote, before = excluded.before, "
        "after = excluded.after, note = excluded.note, colour = excluded.colour, updated_at = excluded.updated_at",
        user=tx.user_id,
        **values,
    )
    return Annotation(**values)


def add_missing(tx: Transaction, annotations: Iterable[Annotation]) -> None:
    """Add those whose ids are new; what the reader has changed since stays. Their items are there."""
    rows = [{"user": tx.user_id, **_values(annotation)} for annotation in annotations]
    if rows:
        tx.many(f"{_INSERT} ON CONFLICT (user_id, id) DO NOTHING", rows)


def of_item(tx: Transaction, item_id: str) -> tuple[Annotation, ...]:
    """An item's, oldest first."""
    rows = tx.all(
        f"SELECT {_NAMES} FROM annotations WHERE user_id = :user AND item_id = :item ORDER BY created_at, id",
        user=tx.user_id,
        item=clean_text(item_id),
    )
    return tuple(Annotation(*row) for row in rows)


def drop(tx: Transaction, annotation_id: str) -> None:
    """Unmark; `NotFound` when there is none with this id."""
    sql = "DELETE FROM annotations WHERE user_id = :user AND id = :id"
    if not tx.run(sql, user=tx.user_id, id=clean_text(annotation_id)):
        raise NotFound("There is no such annotation.")
