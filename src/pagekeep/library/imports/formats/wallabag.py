"""wallabag: a JSON list of entries, the articles' HTML with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.library.imports.input.objects import Entry, object_rows
from pagekeep.library.imports.input.row import Found, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import highlights, moment, names, published, text, truth

_NO_CONTENT: Final = "wallabag can't retrieve contents for this article"
"""What it says in place of an article it did not get."""


def knows(sample: Sample) -> bool:
    """By the names that only it has."""
    return {"url", "is_archived"} <= sample.first.keys()


def rows(source: Source) -> Iterator[Found]:
    """Every entry."""
    return object_rows(source, _row)


def _row(place: Place, entry: Entry) -> Row:
    archived, content = truth(entry.get("is_archived")), text(entry.get("content"))
    return Row(
        place,
        url=text(entry.get("url")) or text(entry.get("given_url")) or text(entry.get("origin_url")),
        title=text(entry.get("title")),
        saved_at=moment(entry.get("created_at")),
        published_at=published(entry.get("published_at")),
        opened_at=moment(entry.get("archived_at")) or (moment(entry.get("updated_at")) if archived else None),
        author=", ".join(names(entry.get("published_by"))),
        language=text(entry.get("language")),
        image=text(entry.get("preview_picture")),
        tags=names(entry.get("tags")),
        archived=archived,
        pinned=truth(entry.get("is_starred")),
        highlights=highlights(entry.get("annotations")),
        content="" if _NO_CONTENT in content[:2_000] else content,
    )
