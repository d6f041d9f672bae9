"""Matter: a CSV of all articles."""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.library.imports.input.row import Fault, Found, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.tables import Record, records
from pagekeep.library.imports.input.values import moment, names, truth


def knows(sample: Sample) -> bool:
    """By its columns."""
    return {"url", "in queue", "last interaction date"} <= sample.columns


def rows(source: Source) -> Iterator[Found]:
    """Every article; what has left the queue is in the archive."""
    for record in records(source):
        yield record if isinstance(record, Fault) else _row(record)


def _row(record: Record) -> Row:
    touched = moment(record["last interaction date"])
    return Row(
        record.place,
        url=record["url"],
        title=record["title"],
        saved_at=touched,
        opened_at=touched if truth(record["read"]) else None,
        author=record["author"],
        tags=names(record["tags"], ";"),
        archived=not truth(record["in queue"]),
        pinned=truth(record["favorited"]),
    )
