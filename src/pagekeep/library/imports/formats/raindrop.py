"""Raindrop.io: a CSV of all bookmarks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pagekeep.library.imports.input.csv_records import Record, read_records
from pagekeep.library.imports.input.row import Fault, ParsedRow, Row, RowAnnotation
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import parse_bool, parse_names, parse_time

_HIGHLIGHT: Final = re.compile(r"^Highlight:", re.MULTILINE)
_NOTE: Final = re.compile(r"^Note:", re.MULTILINE)
_ROOTS: Final = frozenset({"", "unsorted"})


def matches(sample: Sample) -> bool:
    """Return whether the table has Raindrop's columns."""
    return {"url", "folder"} <= sample.columns and bool(sample.columns & {"excerpt", "note", "cover", "highlights"})


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield every bookmark; folders become tags."""
    for record in read_records(source):
        yield record if isinstance(record, Fault) else _make_row(record)


def _make_row(record: Record) -> Row:
    folders = (part.strip() for part in record["folder"].split("/"))
    return Row(
        record.place,
        url=record["url"],
        title=record["title"],
        saved_at=parse_time(record["created"]),
        description=record["excerpt"],
        image=record["cover"],
        tags=(*parse_names(record["tags"]), *(name for name in folders if name.lower() not in _ROOTS)),
        pinned=parse_bool(record["favorite"]),
        note=record["note"],
        annotations=tuple(_parse_highlights(record["highlights"])),
    )


def _parse_highlights(text: str) -> Iterator[RowAnnotation]:
    """Yield the quotes after `Highlight:` with the notes after `Note:`; without these labels, each paragraph is a quote."""
    labelled = _HIGHLIGHT.split(text)
    parts = labelled[1:] if len(labelled) > 1 else text.split("\n\n")
    for part in parts:
        quote, *note = _NOTE.split(part, maxsplit=1)
        if quote.strip():
            yield RowAnnotation(quote.strip(), note[0].strip() if note else "")
