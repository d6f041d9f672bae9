"""Pocket: the CSV of 2025 with its file of highlights, and the HTML page of links before that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.library.imports.formats.bookmark_files import read_anchors
from pagekeep.library.imports.input.records import JsonObject, Sample, read_objects, read_records
from pagekeep.library.imports.input.row import (
    Fault,
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


def matches_csv(sample: Sample) -> bool:
    """Return whether the table has Pocket's columns."""
    return {"url", "time_added"} <= sample.columns


def read_csv(source: Source) -> Iterator[ParsedRow]:
    """Yield every row of the CSV."""
    for record in read_records(source):
        if isinstance(record, Fault):
            yield record
            continue
        yield Row(
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


def matches_annotations(sample: Sample) -> bool:
    """Return whether this is the file of highlights that came with the CSV."""
    return {"url", "highlights"} <= sample.first.keys() and not sample.first.keys() & {"addedAt", "is_archived"}


def read_annotations(source: Source) -> Iterator[ParsedRow]:
    """Yield every page with its annotations."""
    return read_objects(source, _make_annotated_row)


def _make_annotated_row(place: Place, entry: JsonObject) -> Row:
    return Row(
        place,
        url=parse_text(entry.get("url")),
        title=parse_text(entry.get("title")),
        annotations=parse_annotations(entry.get("highlights")),
    )
