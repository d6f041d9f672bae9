"""Instapaper: a CSV whose older forms end a column or two earlier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.library.imports.input.row import Fault, Found, Highlight, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.tables import Record, records
from pagekeep.library.imports.input.values import moment, names

_STATES: Final = frozenset({"", "unread", "archive", "starred"})


def knows(sample: Sample) -> bool:
    """By its columns."""
    return {"url", "title", "selection", "folder"} <= sample.columns


def rows(source: Source) -> Iterator[Found]:
    """Every row."""
    for record in records(source):
        yield record if isinstance(record, Fault) else _row(record)


def _row(record: Record) -> Row:
    folder = record["folder"]
    return Row(
        record.place,
        url=record["url"],
        title=record["title"],
        saved_at=moment(record["timestamp"]),
        tags=(*names(record["tags"]), *([folder] if folder.lower() not in _STATES else [])),
        archived=folder.lower() == "archive",
        pinned=folder.lower() == "starred",
        highlights=(Highlight(record["selection"]),) if record["selection"] else (),
    )
