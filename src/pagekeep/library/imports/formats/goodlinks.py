"""GoodLinks: a JSON list of links."""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.library.imports.input.objects import Entry, object_rows
from pagekeep.library.imports.input.row import Found, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import highlights, moment, names, text, truth


def knows(sample: Sample) -> bool:
    """By the names that only it has."""
    return {"url", "addedAt"} <= sample.first.keys()


def rows(source: Source) -> Iterator[Found]:
    """Every link."""
    return object_rows(source, _row)


def _row(place: Place, entry: Entry) -> Row:
    read = moment(entry.get("readAt"))
    return Row(
        place,
        url=text(entry.get("url")),
        title=text(entry.get("title")),
        saved_at=moment(entry.get("addedAt")),
        opened_at=read,
        author=text(entry.get("author")),
        description=text(entry.get("summary")),
        tags=names(entry.get("tags")),
        archived=read is not None,
        pinned=truth(entry.get("starred")),
        highlights=highlights(entry.get("highlights")),
    )
