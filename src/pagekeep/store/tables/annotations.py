"""Annotations: highlights and notes on items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pagekeep.errors import NotFound
from pagekeep.model import Annotation
from pagekeep.store.engine import Transaction
from pagekeep.store.storable import clean_id, clean_text, clean_time
from pagekeep.store.table import Table, reads, writes
from pagekeep.store.tables.reading.annotation_words import index_words

COLUMNS: Final = ("id", "item_id", "quote", "before", "after", "note", "colour", "created_at", "updated_at")
_NAMES: Final = ", ".join(COLUMNS)
_LIST_LENGTH: Final = 100
"""Values in one list of a statement."""
_INSERT: Final = (
    f"INSERT INTO annotations (user_id, {_NAMES}) VALUES (:user, {', '.join(f':{name}' for name in COLUMNS)})"
)


class AnnotationTable(Table):
    """A user's annotations."""

    @writes
    def annotate(self, tx: Transaction, annotation: Annotation) -> Annotation:
        """Add the annotation, or change the one with its id; `NotFound` when its item does not exist.

        The item counts as changed.
        """
        values = _values(annotation)
        if not tx.all("SELECT 1 FROM items WHERE user_id = :user AND id = :id", user=tx.user_id, id=values["item_id"]):
            raise NotFound(f"There is no item {values['item_id']:.200} to annotate.")
        _touch(tx, values["item_id"], values["updated_at"])
        tx.run(
            f"{_INSERT} ON CONFLICT (user_id, id) DO UPDATE SET quote = excluded.quote, before = excluded.before, "
            "after = excluded.after, note = excluded.note, colour = excluded.colour, updated_at = excluded.updated_at",
            user=tx.user_id,
            **values,
        )
        stored = Annotation(**values)
        index_words(tx, [stored])
        return stored

    @reads
    def annotations(self, tx: Transaction, item_id: str) -> tuple[Annotation, ...]:
        """Return the annotations of an item, oldest first."""
        rows = tx.all(
            f"SELECT {_NAMES} FROM annotations WHERE user_id = :user AND item_id = :item ORDER BY created_at, id",
            user=tx.user_id,
            item=clean_id(item_id),
        )
        return tuple(Annotation(*row) for row in rows)

    @reads
    def annotations_of(self, tx: Transaction, item_ids: Sequence[str]) -> dict[str, tuple[Annotation, ...]]:
        """Return the annotations of several items by the item's id, oldest first; items without any are left out."""
        found: dict[str, tuple[Annotation, ...]] = {}
        for begin in range(0, len(item_ids), _LIST_LENGTH):
            ids = [clean_id(item_id) for item_id in item_ids[begin : begin + _LIST_LENGTH]]
            values = {f"n{at}": value for at, value in enumerate([*ids, *ids[:1] * (_LIST_LENGTH - len(ids))])}
            marks = ", ".join(f":{name}" for name in values)
            rows = tx.all(
                f"SELECT {_NAMES} FROM annotations WHERE user_id = :user AND item_id IN ({marks})",
                user=tx.user_id,
                **values,
            )
            # Sorted here: SQLite would walk all annotations by time rather than sort these.
            for annotation in sorted((Annotation(*row) for row in rows), key=lambda one: (one.created_at, one.id)):
                found[annotation.item_id] = (*found.get(annotation.item_id, ()), annotation)
        return found

    @reads
    def annotations_between(self, tx: Transaction, low: str, high: str) -> tuple[Annotation, ...]:
        """Return the annotations whose ids are in a range, at most 10."""
        rows = tx.all(
            f"SELECT {_NAMES} FROM annotations WHERE user_id = :user AND id >= :low AND id <= :high ORDER BY id LIMIT 10",
            user=tx.user_id,
            low=clean_id(low),
            high=clean_id(high),
        )
        return tuple(Annotation(*row) for row in rows)

    @writes
    def delete_annotation(self, tx: Transaction, annotation_id: str, now: str) -> None:
        """Delete an annotation; `NotFound` when there is none with this id."""
        sql = "DELETE FROM annotations WHERE user_id = :user AND id = :id RETURNING item_id"
        rows = tx.all(sql, user=tx.user_id, id=clean_id(annotation_id))
        if not rows:
            raise NotFound("There is no such annotation.")
        _touch(tx, rows[0][0], clean_time(now))


def _touch(tx: Transaction, item_id: str, now: str) -> None:
    """Note that the item has changed, for programs that ask what has."""
    sql = "UPDATE items SET updated_at = :now WHERE user_id = :user AND id = :id AND updated_at < :now"
    tx.run(sql, now=now, user=tx.user_id, id=item_id)


def add_missing(tx: Transaction, annotations: Iterable[Annotation]) -> None:
    """Add annotations whose ids are new; what the user has changed since stays. Their items exist."""
    rows = [{"user": tx.user_id, **_values(annotation)} for annotation in annotations]
    if rows:
        tx.many(f"{_INSERT} ON CONFLICT (user_id, id) DO NOTHING", rows)
        index_words(tx, _stored(tx, [row["id"] for row in rows]))


def _stored(tx: Transaction, ids: Sequence[str]) -> Iterator[Annotation]:
    for annotation_id in dict.fromkeys(ids):
        sql = f"SELECT {_NAMES} FROM annotations WHERE user_id = :user AND id = :id"
        yield from (Annotation(*row) for row in tx.all(sql, user=tx.user_id, id=annotation_id))


def _values(annotation: Annotation) -> dict[str, str]:
    values = {name: getattr(annotation, name) for name in COLUMNS}
    texts = {name: clean_text(value) if isinstance(value, str) else value for name, value in values.items()}
    times = {name: clean_time(values[name]) for name in ("created_at", "updated_at")}
    return {**texts, **times, "id": clean_id(annotation.id), "item_id": clean_id(annotation.item_id)}
