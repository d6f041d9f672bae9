"""Linkwarden: collections and the links in them, in one JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from pagekeep.errors import PagekeepError
from pagekeep.library.imports.input.json_stream import Element, Skipped, read_groups
from pagekeep.library.imports.input.row import Fault, ParsedRow, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import parse_annotations, parse_names, parse_text, parse_time

_ROOTS: Final = frozenset({"", "unorganized"})
_MAX_DEPTH: Final = 50
"""A collection may name itself as its parent; the walk upwards must end."""
_FIELDS: Final = ("id", "name", "parentId")
_MAX_FIELD_CHARS: Final = 1_000
_MAX_COLLECTIONS: Final = 100_000
"""These limits keep a hostile file cheap to read; links of further collections get no tags from them."""

_Collection = dict[str, str]
"""The fields of a collection."""


def matches(sample: Sample) -> bool:
    """Return whether the file has Linkwarden's list of collections."""
    return sample.has_list("collections", "links")


def read(source: Source) -> Iterator[ParsedRow]:
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
                yield _make_row(place, link, _collection_path(collections.get(number, {}), by_id))
            else:
                yield Fault(place, link.reason if isinstance(link, Skipped) else "This is not an entry.")


def _read_collections(source: Source) -> dict[int, _Collection]:
    """Return the collections by their number; a field may come after the links."""
    collections: dict[int, _Collection] = {}
    with source.text() as stream, suppress(PagekeepError):  # reading the links reports the damage
        for number, name, value in read_groups(stream, "collections", "links"):
            if name in _FIELDS and number <= _MAX_COLLECTIONS:
                collections.setdefault(number, {})[name] = parse_text(value)[:_MAX_FIELD_CHARS]
    return collections


def _collection_path(collection: _Collection, by_id: dict[str, _Collection]) -> tuple[str, ...]:
    path = [collection]
    while (parent := by_id.get(path[-1].get("parentId", ""))) is not None and len(path) < _MAX_DEPTH:
        path.append(parent)
    names = (each.get("name", "") for each in reversed(path))
    return tuple(name for name in names if name.lower() not in _ROOTS)


def _make_row(place: Place, link: dict[str, Any], tags: tuple[str, ...]) -> Row:
    return Row(
        place,
        url=parse_text(link.get("url")),
        title=parse_text(link.get("name")),
        saved_at=parse_time(link.get("importDate")) or parse_time(link.get("createdAt")),
        description=parse_text(link.get("description")),
        tags=(*parse_names(link.get("tags")), *tags),
        annotations=parse_annotations(link.get("highlight") or link.get("highlights")),
    )
