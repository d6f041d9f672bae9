"""Raindrop.io: a CSV of all bookmarks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pagekeep.library.imports.input.row import Fault, Found, Highlight, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.tables import Record, records
from pagekeep.library.imports.input.values import moment, names, truth

_MARK: Final = re.compile(r"^Highlight:", re.MULTILINE)
_NOTE: Final = re.compile(r"^Note:", re.MULTILINE)
_ROOTS: Final = frozenset({"", "unsorted"})


def knows(sample: Sample) -> bool:
    """By its columns."""
    return {"url", "folder"} <= sample.columns and bool(sample.columns & {"excerpt", "note", "cover", "highlights"})


def rows(source: Source) -> Iterator[Found]:
    """Every bookmark; folders become tags."""
    for record in records(source):
        yield record if isinstance(record, Fault) else _row(record)


def _row(record: Record) -> Row:
    folders = (part.strip() for part in record["folder"].split("/"))
    return Row(
        record.place,
        url=record["url"],
        title=record["title"],
        saved_at=moment(record["created"]),
        description=record["excerpt"],
        image=record["cover"],
        tags=(*names(record["tags"]), *(name for name in folders if name.lower() not in _ROOTS)),
        pinned=truth(record["favorite"]),
        note=record["note"],
        highlights=tuple(_highlights(record["highlights"])),
    )


def _highlights(written: str) -> Iterator[Highlight]:
    """Passages after `Highlight:`, what was said about them after `Note:`; without these marks, one a paragraph."""
    marked = _MARK.split(written)
    parts = marked[1:] if len(marked) > 1 else written.split("\n\n")
    for part in parts:
        quote, *note = _NOTE.split(part, maxsplit=1)
        if quote.strip():
            yield Highlight(quote.strip(), note[0].strip() if note else "")
