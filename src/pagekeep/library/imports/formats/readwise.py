"""Readwise Reader: a CSV of all documents."""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.library.imports.input.csv_records import Record, read_records
from pagekeep.library.imports.input.row import Fault, ParsedRow, Row, SkippedRow
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import parse_bool, parse_names, parse_time


def matches(sample: Sample) -> bool:
    """Return whether the table has Readwise Reader's columns."""
    return {"url", "document tags", "saved date"} <= sample.columns


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield every document that the user saved; feed articles, which come by the thousand, are skipped."""
    for record in read_records(source):
        if isinstance(record, Fault):
            yield record
        elif record["location"].lower() == "feed":
            yield SkippedRow(record.place, "A feed article that was not saved is left out.")
        else:
            yield _make_row(record)


def _make_row(record: Record) -> Row:
    saved, location = parse_time(record["saved date"]), record["location"].lower()
    return Row(
        record.place,
        url=record["url"],
        title=record["title"],
        saved_at=saved,
        opened_at=saved if parse_bool(record["seen"]) or _was_opened(record["reading progress"]) else None,
        tags=parse_names(record["document tags"]),
        archived=location == "archive",
        pinned=location == "shortlist",
    )


def _was_opened(progress: str) -> bool:
    return any(char in "123456789" for char in progress)
