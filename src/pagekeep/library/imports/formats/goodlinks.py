"""GoodLinks: a JSON list of links."""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.library.imports.input.json_stream import JsonObject, read_objects
from pagekeep.library.imports.input.row import ParsedRow, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import parse_annotations, parse_bool, parse_names, parse_text, parse_time


def matches(sample: Sample) -> bool:
    """Return whether the first entry has the keys that only GoodLinks writes."""
    return {"url", "addedAt"} <= sample.first.keys()


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield every link."""
    return read_objects(source, _make_row)


def _make_row(place: Place, entry: JsonObject) -> Row:
    read_at = parse_time(entry.get("readAt"))
    return Row(
        place,
        url=parse_text(entry.get("url")),
        title=parse_text(entry.get("title")),
        saved_at=parse_time(entry.get("addedAt")),
        opened_at=read_at,
        author=parse_text(entry.get("author")),
        description=parse_text(entry.get("summary")),
        tags=parse_names(entry.get("tags")),
        archived=read_at is not None,
        pinned=parse_bool(entry.get("starred")),
        annotations=parse_annotations(entry.get("highlights")),
    )
