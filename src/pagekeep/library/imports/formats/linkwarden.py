"""Linkwarden: collections and the links in them, in one JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from pagekeep.errors import PagekeepError
from pagekeep.library.imports.input.json_stream import read_elements
from pagekeep.library.imports.input.row import Fault, ParsedRow, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import parse_annotations, parse_names, parse_text, parse_time

_ROOTS: Final = frozenset({"", "unorganized"})
_MAX_DEPTH: Final = 50
"""A collection may name itself as its parent; the walk upwards must end."""

_Parents = dict[Any, tuple[str, Any]]
"""Name and parent's id of each collection, by id."""


def matches(sample: Sample) -> bool:
    """Return whether the file has Linkwarden's list of collections."""
    return sample.has_list("collections", "links")


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield every link; its collection and those above become tags."""
    parents = _read_collections(source)
    number = 0
    with source.text() as stream:
        for element in read_elements(stream, "collections"):
            collection = element.value if isinstance(element.value, dict) else {}
            tags = _collection_path(parse_text(collection.get("id")), parents)
            links = collection.get("links")
            for link in links if isinstance(links, list) else ():
                number += 1
                place = Place(element.line, number, source.part)
                yield _make_row(place, link, tags) if isinstance(link, dict) else Fault(place, "This is not an entry.")


def _read_collections(source: Source) -> _Parents:
    parents: _Parents = {}
    with source.text() as stream, suppress(PagekeepError):  # reading the links reports the damage
        for element in read_elements(stream, "collections"):
            if isinstance(element.value, dict):
                name, parent_id = parse_text(element.value.get("name")), parse_text(element.value.get("parentId"))
                parents[parse_text(element.value.get("id"))] = (name, parent_id)
    return parents


def _collection_path(collection_id: str, parents: _Parents) -> tuple[str, ...]:
    path: list[str] = []
    while collection_id in parents and len(path) < _MAX_DEPTH:
        name, collection_id = parents[collection_id]
        path.append(name)
    return tuple(name for name in reversed(path) if name.lower() not in _ROOTS)


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
