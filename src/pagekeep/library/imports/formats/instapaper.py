"""Instapaper: a CSV; older exports lack the last one or two columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.library.imports.input.csv_records import Record, read_records
from pagekeep.library.imports.input.row import Fault, ParsedRow, Row, RowAnnotation
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import parse_names, parse_time

_STATES: Final = frozenset({"", "unread", "archive", "starred"})


def matches(sample: Sample) -> bool:
    """Return whether the table has Instapaper's columns."""
    return {"url", "title", "selection", "folder"} <= sample.columns


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield every bookmark; folders of the user's become tags."""
    for record in read_records(source):
        yield record if isinstance(record, Fault) else _make_row(record)


def _make_row(record: Record) -> Row:
    folder = record["folder"]
    return Row(
        record.place,
        url=record["url"],
        title=record["title"],
        saved_at=parse_time(record["timestamp"]),
        tags=(*parse_names(record["tags"]), *([folder] if folder.lower() not in _STATES else [])),
        archived=folder.lower() == "archive",
        pinned=folder.lower() == "starred",
        annotations=(RowAnnotation(record["selection"]),) if record["selection"] else (),
    )
