"""Pinboard: a JSON list of bookmarks."""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.library.imports.input.objects import Entry, object_rows
from pagekeep.library.imports.input.row import Found, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import moment, names, text


def knows(sample: Sample) -> bool:
    """By the names that only it has."""
    return {"href", "description"} <= sample.first.keys()


def rows(source: Source) -> Iterator[Found]:
    """Every bookmark; what is not marked as to be read was filed away, so it goes to the archive."""
    return object_rows(source, _row)


def _row(place: Place, entry: Entry) -> Row:
    return Row(
        place,
        url=text(entry.get("href")),
        title=text(entry.get("description")),
        saved_at=moment(entry.get("time")),
        description=text(entry.get("extended")),
        tags=names(entry.get("tags"), " "),
        archived=text(entry.get("toread")).lower() == "no",
        note=text(entry.get("extended")),
    )
