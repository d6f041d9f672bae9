"""Matter: a CSV of all articles."""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.library.imports.input.csv_records import Record, read_records
from pagekeep.library.imports.input.row import Fault, ParsedRow, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import parse_bool, parse_names, parse_time


def matches(sample: Sample) -> bool:
    """Return whether the table has Matter's columns."""
    return {"url", "in queue", "last interaction date"} <= sample.columns


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield every article; those no longer in the queue are archived."""
    for record in read_records(source):
        yield record if isinstance(record, Fault) else _make_row(record)


def _make_row(record: Record) -> Row:
    last_used = parse_time(record["last interaction date"])
    return Row(
        record.place,
        url=record["url"],
        title=record["title"],
        saved_at=last_used,
        opened_at=last_used if parse_bool(record["read"]) else None,
        author=record["author"],
        tags=parse_names(record["tags"], ";"),
        archived=not parse_bool(record["in queue"]),
        pinned=parse_bool(record["favorited"]),
    )
