"""JSON files that are a list of objects, one a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pagekeep.library.imports.input.json_stream import elements
from pagekeep.library.imports.input.row import Fault, Found, Place
from pagekeep.library.imports.input.source import Source

Entry = Mapping[str, Any]


def object_rows(source: Source, row: Callable[[Place, Entry], Found], key: str | None = None) -> Iterator[Found]:
    """What `row` makes of every object of the list; what is no object is a fault."""
    with source.text() as stream:
        for found in elements(stream, key):
            place = Place(found.line, found.number, source.part)
            if isinstance(found.value, dict):
                yield row(place, found.value)
            else:
                yield Fault(place, "This is no entry.", repr(found.value)[:500])
