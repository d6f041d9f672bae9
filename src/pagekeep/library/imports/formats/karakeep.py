"""Karakeep (formerly Hoarder): bookmarks and the lists they are on, in one JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pagekeep.errors import PagekeepError
from pagekeep.library.imports.input.json_stream import JsonObject, read_elements, read_objects
from pagekeep.library.imports.input.row import Fault, ParsedRow, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import parse_annotations, parse_bool, parse_names, parse_text, parse_time


def matches(sample: Sample) -> bool:
    """Return whether the file has Karakeep's list of bookmarks."""
    return sample.has_list("bookmarks", "content")


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield every bookmark; the names of its lists become tags."""
    lists = _read_lists(source)
    return read_objects(source, lambda place, entry: _make_row(place, entry, lists), "bookmarks")


def _read_lists(source: Source) -> dict[str, str]:
    """Return the names of lists by id. They come after the bookmarks, so a truncated file has none."""
    lists: list[Any] = []
    with source.text() as stream, suppress(PagekeepError):
        lists += (element.value for element in read_elements(stream, "lists"))
    return {parse_text(entry.get("id")): parse_text(entry.get("name")) for entry in lists if isinstance(entry, dict)}


def _make_row(place: Place, entry: JsonObject, lists: dict[str, str]) -> ParsedRow:
    content = entry.get("content")
    content = content if isinstance(content, dict) else {}
    url = parse_text(content.get("url")) or parse_text(content.get("sourceUrl"))
    list_names = (lists.get(name, name) for name in parse_names(entry.get("lists")))
    row = Row(
        place,
        url=url,
        title=parse_text(entry.get("title")),
        saved_at=parse_time(entry.get("createdAt")),
        tags=(*parse_names(entry.get("tags")), *list_names),
        archived=parse_bool(entry.get("archived")),
        pinned=parse_bool(entry.get("favourited")),
        note="\n\n".join(filter(None, (parse_text(content.get("text")), parse_text(entry.get("note"))))),
        annotations=parse_annotations(entry.get("highlights")),
    )
    if url:
        return row
    kind = "a text" if content.get("text") else "an entry"
    reason = f"It is {kind} without an address. Pagekeep stores web pages only."
    return Fault(place, reason, row.title or row.note[:500], row)
