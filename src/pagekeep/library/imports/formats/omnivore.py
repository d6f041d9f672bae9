"""Omnivore: lists of pages in JSON, with the pages' HTML and highlights in folders beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from pagekeep.errors import NotFound, PagekeepError
from pagekeep.library.imports.formats.documents import document_page, read_body
from pagekeep.library.imports.input.records import JsonObject, read_objects
from pagekeep.library.imports.input.row import (
    Fault,
    ParsedRow,
    Place,
    Row,
    RowAnnotation,
    parse_names,
    parse_publication_date,
    parse_text,
    parse_time,
)
from pagekeep.library.imports.input.source import Tree
from pagekeep.model import RawPage

_LIST: Final = re.compile(r"(?:^|/)metadata_(\d{1,12})_to_(\d{1,12})\.json$")
_BLANK_LINES: Final = re.compile(r"\r?\n[ \t]*+(?:\r?\n[ \t]*+)++")
_MAX_PAGE_CHARS: Final = 10_000_000
_MAX_NOTES_CHARS: Final = 2_000_000


def matches_tree(names: list[str]) -> bool:
    """Return whether the folder has Omnivore's lists."""
    return any(map(_LIST.search, names))


def read_tree(tree: Tree) -> Iterator[ParsedRow]:
    """Yield every page with its HTML and highlights."""
    lists = sorted((int(match[1]), name) for name in tree.names() if (match := _LIST.search(name)))
    for _, name in lists:
        base = name.rpartition("/")[0]
        try:
            yield from read_objects(tree.source(name), partial(_make_full_row, tree, base))
        except PagekeepError as error:
            yield Fault(Place(0, 0, name), error.message)


def make_row(place: Place, entry: JsonObject) -> Row:
    """Return a page of one list."""
    progress = entry.get("readingProgress")
    was_opened = isinstance(progress, (int, float)) and progress > 0
    return Row(
        place,
        url=parse_text(entry.get("url")),
        title=parse_text(entry.get("title")),
        saved_at=parse_time(entry.get("savedAt")),
        published_at=parse_publication_date(entry.get("publishedAt")),
        opened_at=parse_time(entry.get("updatedAt")) if was_opened else None,
        author=parse_text(entry.get("author")),
        description=parse_text(entry.get("description")),
        image=parse_text(entry.get("thumbnail")),
        tags=parse_names(entry.get("labels")),
        archived=parse_text(entry.get("state")).lower() == "archived",
    )


def _make_full_row(tree: Tree, base: str, place: Place, entry: JsonObject) -> Row:
    row, slug = make_row(place, entry), parse_text(entry.get("slug"))
    folder = f"{base}/" if base else ""
    if not slug:
        return row
    try:
        content, remarks = _read_content(tree, f"{folder}content/{slug}")
        page = None if content or remarks else _read_pdf(tree, f"{folder}content/{slug}.pdf", row)
        notes = _read_text(tree, f"{folder}highlights/{slug}.md", _MAX_NOTES_CHARS)
    except PagekeepError as error:
        return replace(row, remarks=(error.message,))
    annotations = tuple(parse_highlights_file(notes or ""))
    return replace(row, content=content, page=page, annotations=annotations, remarks=remarks)


def _read_pdf(tree: Tree, name: str, row: Row) -> RawPage | None:
    try:
        return document_page(read_body(tree.source(name)), row.url, row.saved_at)
    except NotFound:
        return None


def _read_content(tree: Tree, stem: str) -> tuple[str, tuple[str, ...]]:
    html = _read_text(tree, f"{stem}.html", _MAX_PAGE_CHARS + 1)
    if html is None:
        return "", ()
    if len(html) > _MAX_PAGE_CHARS:
        return "", (f"The page's content was not imported: it is larger than {_MAX_PAGE_CHARS:,} characters.",)
    return html, ()


def _read_text(tree: Tree, name: str, max_chars: int) -> str | None:
    """Return the beginning of a file, or `None` when it does not exist."""
    try:
        with tree.source(name).text() as stream:
            return stream.read(max_chars)
    except NotFound:
        return None


def parse_highlights_file(text: str) -> list[RowAnnotation]:
    """Return the quotes, each with the text below it as its note; text before the first is a note about the page."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for block in _BLANK_LINES.split(text):
        lines = block.strip().splitlines()
        quote = [line[1:].strip() for line in lines if line.startswith(">")]
        note = "\n".join(line for line in lines if not line.startswith(">"))
        if quote:
            found.append(("\n".join(quote).strip(), []))
        if note:
            found[-1][1].append(note)
    annotations = (RowAnnotation(quote, "\n\n".join(notes).strip()) for quote, notes in found)
    return [annotation for annotation in annotations if annotation.quote or annotation.note]
