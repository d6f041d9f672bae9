"""Karakeep (once Hoarder): bookmarks and the lists they are on, in one JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pagekeep.errors import PagekeepError
from pagekeep.library.imports.input.json_stream import elements
from pagekeep.library.imports.input.objects import Entry, object_rows
from pagekeep.library.imports.input.row import Fault, Found, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import highlights, moment, names, text, truth


def knows(sample: Sample) -> bool:
    """By its list of bookmarks."""
    return sample.has_list("bookmarks", "content")


def rows(source: Source) -> Iterator[Found]:
    """Every bookmark; the names of its lists become tags."""
    lists = _lists(source)
    return object_rows(source, lambda place, entry: _row(place, entry, lists), "bookmarks")


def _lists(source: Source) -> dict[str, str]:
    """Names by id. They stand behind the bookmarks, so in a file that breaks off there are none."""
    found: list[Any] = []
    with source.text() as stream, suppress(PagekeepError):
        found += (element.value for element in elements(stream, "lists"))
    return {text(entry.get("id")): text(entry.get("name")) for entry in found if isinstance(entry, dict)}


def _row(place: Place, entry: Entry, lists: dict[str, str]) -> Found:
    content = entry.get("content")
    content = content if isinstance(content, dict) else {}
    url = text(content.get("url")) or text(content.get("sourceUrl"))
    on = (lists.get(name, name) for name in names(entry.get("lists")))
    row = Row(
        place,
        url=url,
        title=text(entry.get("title")),
        saved_at=moment(entry.get("createdAt")),
        tags=(*names(entry.get("tags")), *on),
        archived=truth(entry.get("archived")),
        pinned=truth(entry.get("favourited")),
        note="\n\n".join(filter(None, (text(content.get("text")), text(entry.get("note"))))),
        highlights=highlights(entry.get("highlights")),
    )
    if url:
        return row
    kind = "a text" if content.get("text") else "an entry"
    return Fault(place, f"It is {kind} without an address, and Pagekeep keeps pages.", row.title or row.note[:500], row)
