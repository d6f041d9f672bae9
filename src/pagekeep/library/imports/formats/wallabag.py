"""wallabag: a JSON list of entries with the articles' HTML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.library.imports.input.json_stream import JsonObject, read_objects
from pagekeep.library.imports.input.row import ParsedRow, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import (
    parse_annotations,
    parse_bool,
    parse_names,
    parse_publication_date,
    parse_text,
    parse_time,
)

_NO_CONTENT: Final = "wallabag can't retrieve contents for this article"
"""What wallabag stores when it could not get the article."""


def matches(sample: Sample) -> bool:
    """Return whether the first entry has the keys that only wallabag writes."""
    return {"url", "is_archived"} <= sample.first.keys()


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield every entry."""
    return read_objects(source, _make_row)


def _make_row(place: Place, entry: JsonObject) -> Row:
    archived, content = parse_bool(entry.get("is_archived")), parse_text(entry.get("content"))
    return Row(
        place,
        url=parse_text(entry.get("url")) or parse_text(entry.get("given_url")) or parse_text(entry.get("origin_url")),
        title=parse_text(entry.get("title")),
        saved_at=parse_time(entry.get("created_at")),
        published_at=parse_publication_date(entry.get("published_at")),
        opened_at=parse_time(entry.get("archived_at")) or (parse_time(entry.get("updated_at")) if archived else None),
        author=", ".join(parse_names(entry.get("published_by"))),
        language=parse_text(entry.get("language")),
        image=parse_text(entry.get("preview_picture")),
        tags=parse_names(entry.get("tags")),
        archived=archived,
        pinned=parse_bool(entry.get("is_starred")),
        annotations=parse_annotations(entry.get("annotations")),
        content="" if _NO_CONTENT in content[:2_000] else content,
    )
