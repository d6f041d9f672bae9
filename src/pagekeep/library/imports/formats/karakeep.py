"""Karakeep (formerly Hoarder): bookmarks and the lists they are on, in one JSON object; or the folder of `karakeep dump`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from pagekeep.capture.documents.file_types import declared_type
from pagekeep.capture.uploads import file_url
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.library.imports.formats.documents import document_page, read_body
from pagekeep.library.imports.input.records import JsonObject, Sample, read_elements, read_objects
from pagekeep.library.imports.input.row import (
    Fault,
    ParsedRow,
    Place,
    Row,
    parse_annotations,
    parse_bool,
    parse_names,
    parse_text,
    parse_time,
)
from pagekeep.library.imports.input.source import Source, Tree, read_lines

_DUMP: Final = "bookmarks/index.jsonl"
_MAX_LINE_CHARS: Final = 20_000_000


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


def matches_tree(names: list[str]) -> bool:
    """Return whether the folder is an unpacked archive of `karakeep dump`, with the files that were saved."""
    return _DUMP in names and "manifest.json" in names


def read_tree(tree: Tree) -> Iterator[ParsedRow]:
    """Yield every bookmark; one that is a PDF or another document with its file."""
    lists = _read_membership(tree)
    with tree.source(_DUMP).text() as stream:
        for number, line in enumerate(read_lines(stream, _MAX_LINE_CHARS), start=1):
            place = Place(number, number, _DUMP)
            entry = _parse(line)
            if isinstance(entry, dict):
                yield _make_dumped_row(tree, place, {**entry, "lists": lists.get(parse_text(entry.get("id")), [])})
            elif line is None or line.strip():
                yield Fault(place, "The line is not a bookmark.", (line or "")[:500])


def _read_membership(tree: Tree) -> dict[str, list[str]]:
    """Return the names of the lists that each bookmark is on, by its id."""
    names = {parse_text(one.get("id")): parse_text(one.get("name")) for one in _read_json(tree, "lists/index.json", [])}
    lists: dict[str, list[str]] = {}
    for list_id, members in _read_json(tree, "lists/membership.json", {}).items():
        for member in members if isinstance(members, list) else ():
            lists.setdefault(parse_text(member), []).append(names.get(list_id, list_id))
    return lists


def _read_json(tree: Tree, name: str, empty: Any) -> Any:
    """Return the value in a small file, or an empty one where there is none of its type."""
    try:
        with tree.source(name).text() as stream:
            value = _parse(stream.read(_MAX_LINE_CHARS))
    except NotFound:
        return empty
    if isinstance(value, list):
        value = [one for one in value if isinstance(one, dict)]
    return value if isinstance(value, type(empty)) else empty


def _parse(text: str | None) -> Any:
    try:
        return json.loads(text or "null")
    except (ValueError, RecursionError):
        return None


def _make_dumped_row(tree: Tree, place: Place, entry: JsonObject) -> ParsedRow:
    content = entry.get("content")
    content = content if isinstance(content, dict) else {}
    row = _make_row(place, entry, {})
    if content.get("type") != "asset":
        html = parse_text(content.get("htmlContent"))
        return replace(row, content=html) if isinstance(row, Row) and html else row
    try:
        body = read_body(tree.source(f"assets/files/{parse_text(content.get('assetId'))}"))
    except PagekeepError as error:
        return replace(row, remarks=(error.message,)) if isinstance(row, Row) else row
    known = row if isinstance(row, Row) else row.row if isinstance(row, Fault) else None
    if known is None:
        return row
    name = parse_text(content.get("fileName")) or "file"
    url = known.url or file_url(name, body)
    page = document_page(body, url, known.saved_at, declared_type(name))
    return replace(known, url=url, page=page) if page else row


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
