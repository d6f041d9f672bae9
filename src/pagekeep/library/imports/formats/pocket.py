"""Pocket: its CSV of 2025, and the page of links before that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.library.imports.input.anchors import anchors
from pagekeep.library.imports.input.objects import Entry, object_rows
from pagekeep.library.imports.input.row import Fault, Found, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.tables import records
from pagekeep.library.imports.input.values import highlights, moment, names, text

_READ: Final = frozenset({"archive", "archived", "read"})


def knows_table(sample: Sample) -> bool:
    """By its columns."""
    return {"url", "time_added"} <= sample.columns


def table_rows(source: Source) -> Iterator[Found]:
    """Every row."""
    for record in records(source):
        if isinstance(record, Fault):
            yield record
            continue
        yield Row(
            record.place,
            url=record["url"],
            title=record["title"],
            saved_at=moment(record["time_added"]),
            tags=names(record["tags"], "|"),
            archived=record["status"].lower() in _READ,
        )


def knows_page(sample: Sample) -> bool:
    """By its links in lists under `Unread` and `Read Archive`."""
    head = sample.lower
    return "<li><a " in head and ("time_added=" in head or "<h1>unread</h1>" in head or "<h1>read archive</h1>" in head)


def page_rows(source: Source) -> Iterator[Found]:
    """Every link."""
    with source.text() as stream:
        for number, anchor in enumerate(anchors(stream), 1):
            known = anchor.attributes
            yield Row(
                Place(anchor.line, number, source.part),
                url=known.get("href", ""),
                title=anchor.title,
                saved_at=moment(known.get("time_added")),
                tags=names(known.get("tags")),
                archived="archive" in anchor.section.lower(),
            )


def knows_highlights(sample: Sample) -> bool:
    """The file of marked passages that came beside the CSV."""
    return {"url", "highlights"} <= sample.first.keys() and not sample.first.keys() & {"addedAt", "is_archived"}


def highlight_rows(source: Source) -> Iterator[Found]:
    """Every page with its passages."""
    return object_rows(source, _highlight_row)


def _highlight_row(place: Place, entry: Entry) -> Row:
    marks = highlights(entry.get("highlights"))
    return Row(place, url=text(entry.get("url")), title=text(entry.get("title")), highlights=marks)
