"""JSON files of programs whose export is one list: GoodLinks, Linkwarden, Pinboard and wallabag."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from pagekeep.errors import PagekeepError
from pagekeep.library.imports.input.records import Element, JsonObject, Sample, Skipped, read_groups
from pagekeep.library.imports.input.row import (
    Fault,
    ParsedRow,
    Place,
    Row,
    parse_annotations,
    parse_bool,
    parse_names,
    parse_publication_date,
    parse_text,
    parse_time,
)
from pagekeep.library.imports.input.source import Source


def goodlinks_row(place: Place, entry: JsonObject) -> Row:
    """Return a link of GoodLinks."""
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


_LINKWARDEN_ROOTS: Final = frozenset({"", "unorganized"})
_MAX_DEPTH: Final = 50
"""A collection may name itself as its parent; the walk upwards must end."""
_COLLECTION_FIELDS: Final = ("id", "name", "parentId")
_MAX_FIELD_CHARS: Final = 1_000
_MAX_COLLECTIONS: Final = 100_000
"""These limits keep a hostile file cheap to read; links of further collections get no tags from them."""

_Collection = dict[str, str]
"""The fields of a collection."""


def matches_linkwarden(sample: Sample) -> bool:
    """Return whether the file has Linkwarden's list of collections."""
    return sample.has_list("collections", "links")


def read_linkwarden(source: Source) -> Iterator[ParsedRow]:
    """Yield every link; its collection and those above become tags."""
    collections = _read_collections(source)
    by_id = {collection.get("id", ""): collection for collection in collections.values()}
    links = 0
    with source.text() as stream:
        for number, name, value in read_groups(stream, "collections", "links"):
            if name != "links" or not isinstance(value, Element):
                continue
            links += 1
            place, link = Place(value.line, links, source.part), value.value
            if isinstance(link, dict):
                yield _linkwarden_row(place, link, _collection_path(collections.get(number, {}), by_id))
            else:
                yield Fault(place, link.reason if isinstance(link, Skipped) else "This is not an entry.")


def _read_collections(source: Source) -> dict[int, _Collection]:
    """Return the collections by their number; a field may come after the links."""
    collections: dict[int, _Collection] = {}
    with source.text() as stream, suppress(PagekeepError):  # reading the links reports the damage
        for number, name, value in read_groups(stream, "collections", "links"):
            if name in _COLLECTION_FIELDS and number <= _MAX_COLLECTIONS:
                collections.setdefault(number, {})[name] = parse_text(value)[:_MAX_FIELD_CHARS]
    return collections


def _collection_path(collection: _Collection, by_id: dict[str, _Collection]) -> tuple[str, ...]:
    path = [collection]
    while (parent := by_id.get(path[-1].get("parentId", ""))) is not None and len(path) < _MAX_DEPTH:
        path.append(parent)
    names = (each.get("name", "") for each in reversed(path))
    return tuple(name for name in names if name.lower() not in _LINKWARDEN_ROOTS)


def _linkwarden_row(place: Place, link: dict[str, Any], tags: tuple[str, ...]) -> Row:
    return Row(
        place,
        url=parse_text(link.get("url")),
        title=parse_text(link.get("name")),
        saved_at=parse_time(link.get("importDate")) or parse_time(link.get("createdAt")),
        description=parse_text(link.get("description")),
        tags=(*parse_names(link.get("tags")), *tags),
        annotations=parse_annotations(link.get("highlight") or link.get("highlights")),
    )


def pinboard_row(place: Place, entry: JsonObject) -> Row:
    """Return a bookmark of Pinboard; one that is not marked "to read" is archived."""
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


_NO_CONTENT: Final = "wallabag can't retrieve contents for this article"
"""What wallabag stores when it could not get the article."""


def wallabag_row(place: Place, entry: JsonObject) -> Row:
    """Return an entry of wallabag."""
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
