"""Readwise Reader: a CSV of all documents."""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.library.imports.input.row import Fault, Found, Row, Skipped
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.tables import Record, records
from pagekeep.library.imports.input.values import moment, names, truth


def knows(sample: Sample) -> bool:
    """By its columns."""
    return {"url", "document tags", "saved date"} <= sample.columns


def rows(source: Source) -> Iterator[Found]:
    """Every document that was saved; articles of feeds come by the thousand and were not."""
    for record in records(source):
        if isinstance(record, Fault):
            yield record
        elif record["location"].lower() == "feed":
            yield Skipped(record.place, "It is from a feed and was not saved.")
        else:
            yield _row(record)


def _row(record: Record) -> Row:
    saved, location = moment(record["saved date"]), record["location"].lower()
    return Row(
        record.place,
        url=record["url"],
        title=record["title"],
        saved_at=saved,
        opened_at=saved if truth(record["seen"]) or _was_begun(record["reading progress"]) else None,
        tags=names(record["document tags"]),
        archived=location == "archive",
        pinned=location == "shortlist",
    )


def _was_begun(progress: str) -> bool:
    return any(char in "123456789" for char in progress)
