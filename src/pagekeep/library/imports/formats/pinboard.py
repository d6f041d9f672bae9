"""Pinboard: a JSON list of bookmarks."""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.library.imports.input.json_stream import JsonObject, read_objects
from pagekeep.library.imports.input.row import ParsedRow, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import parse_names, parse_text, parse_time


def matches(sample: Sample) -> bool:
    """Return whether the first entry has the keys that only Pinboard writes."""
    return {"href", "description"} <= sample.first.keys()


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield every bookmark; those not marked "to read" are archived."""
    return read_objects(source, _make_row)


def _make_row(place: Place, entry: JsonObject) -> Row:
    return Row(
        place,
        url=parse_text(entry.get("href")),
        title=parse_text(entry.get("description")),
        saved_at=parse_time(entry.get("time")),
        description=parse_text(entry.get("extended")),
        tags=parse_names(entry.get("tags"), " "),
        archived=parse_text(entry.get("toread")).lower() == "no",
        note=parse_text(entry.get("extended")),
    )
