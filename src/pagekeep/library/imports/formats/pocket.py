"""Pocket: the CSV of 2025 with its file of highlights, and the HTML page of links before that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.library.imports.formats.bookmark_files import read_anchors
from pagekeep.library.imports.input.records import JsonObject, Record, Sample
from pagekeep.library.imports.input.row import (
    ParsedRow,
    Place,
    Row,
    parse_annotations,
    parse_names,
    parse_text,
    parse_time,
)
from pagekeep.library.imports.input.source import Source

_READ: Final = frozenset({"archive", "archived", "read"})


def csv_row(record: Record) -> Row:
    """Return a row of the CSV."""
    return Row(
        record.place,
        url=record["url"],
        title=record["title"],
        saved_at=parse_time(record["time_added"]),
        tags=parse_names(record["tags"], "|"),
        archived=record["status"].lower() in _READ,
    )


def matches_html(sample: Sample) -> bool:
    """Return whether the file has links in lists under `Unread` and `Read Archive`."""
    head = sample.lower
    return "<li><a " in head and ("time_added=" in head or "<h1>unread</h1>" in head or "<h1>read archive</h1>" in head)


def read_html(source: Source) -> Iterator[ParsedRow]:
    """Yield every link of the HTML page."""
    with source.text() as stream:
        for number, anchor in enumerate(read_anchors(stream), 1):
            attributes = anchor.attributes
            yield Row(
                Place(anchor.line, number, source.part),
                url=attributes.get("href", ""),
                title=anchor.title,
                saved_at=parse_time(attributes.get("time_added")),
                tags=parse_names(attributes.get("tags")),
                archived="archive" in anchor.section.lower(),
            )


def annotations_row(place: Place, entry: JsonObject) -> Row:
    """Return a page with its highlights, of the file that came with the CSV."""
    return Row(
        place,
        url=parse_text(entry.get("url")),
        title=parse_text(entry.get("title")),
        annotations=parse_annotations(entry.get("highlights")),
    )
