"""Linkwarden: collections and the links in them, in one JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from pagekeep.errors import PagekeepError
from pagekeep.library.imports.input.json_stream import elements
from pagekeep.library.imports.input.row import Fault, Found, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import highlights, moment, names, text

_ROOTS: Final = frozenset({"", "unorganized"})
_DEEPEST: Final = 50

_Above = dict[Any, tuple[str, Any]]
"""Id of a collection to its name and the id of the one above."""


def knows(sample: Sample) -> bool:
    """By its collections."""
    return sample.has_list("collections", "links")


def rows(source: Source) -> Iterator[Found]:
    """Every link; the collection it is in and those above become tags."""
    above = _collections(source)
    number = 0
    with source.text() as stream:
        for found in elements(stream, "collections"):
            collection = found.value if isinstance(found.value, dict) else {}
            tags = _path(text(collection.get("id")), above)
            links = collection.get("links")
            for link in links if isinstance(links, list) else ():
                number += 1
                place = Place(found.line, number, source.part)
                yield _row(place, link, tags) if isinstance(link, dict) else Fault(place, "This is no entry.")


def _collections(source: Source) -> _Above:
    above: _Above = {}
    with source.text() as stream, suppress(PagekeepError):  # a break is told when the links are read
        for found in elements(stream, "collections"):
            if isinstance(found.value, dict):
                known = found.value
                above[text(known.get("id"))] = (text(known.get("name")), text(known.get("parentId")))
    return above


def _path(collection: str, above: _Above) -> tuple[str, ...]:
    found: list[str] = []
    while collection in above and len(found) < _DEEPEST:
        name, collection = above[collection]
        found.append(name)
    return tuple(name for name in reversed(found) if name.lower() not in _ROOTS)


def _row(place: Place, link: dict[str, Any], tags: tuple[str, ...]) -> Row:
    return Row(
        place,
        url=text(link.get("url")),
        title=text(link.get("name")),
        saved_at=moment(link.get("importDate")) or moment(link.get("createdAt")),
        description=text(link.get("description")),
        tags=(*names(link.get("tags")), *tags),
        highlights=highlights(link.get("highlight") or link.get("highlights")),
    )
