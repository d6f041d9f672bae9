"""Pagekeep's own formats: JSON Lines, Markdown files, and the file of rows that could not be imported."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from pagekeep import clock
from pagekeep.errors import PagekeepError, ParseError
from pagekeep.library import normal_url
from pagekeep.library.archive.pictures import replace_picture_urls
from pagekeep.library.exports import markdown_files
from pagekeep.library.exports.jsonl import MARKER, parse_object, read_line, read_reading
from pagekeep.library.exports.markdown_files import Document, FileAnnotation
from pagekeep.library.exports.selection import PICTURE_SOURCES
from pagekeep.library.imports.input.records import Sample
from pagekeep.library.imports.input.row import (
    CompleteItem,
    Fault,
    ParsedRow,
    Place,
    Row,
    RowAnnotation,
    parse_bool,
    parse_names,
    parse_publication_date,
    parse_text,
    parse_time,
)
from pagekeep.library.imports.input.source import Source, Tree, read_lines
from pagekeep.markdown.frontmatter import write_frontmatter
from pagekeep.model import Annotation, Item, ItemMetadata
from pagekeep.present.item_content import EDITED_FIELD, EDITED_NAMES
from pagekeep.store.storable import metadata_from_json
from pagekeep.text import count_words, reading_time

_MAX_LINE_CHARS: Final = 64_000_000


def matches_jsonl(sample: Sample) -> bool:
    """Return whether the first key of the first line is ours."""
    return sample.head.startswith((f'{{"{MARKER}":', f'{{"{MARKER}" :'))


def read_jsonl(source: Source) -> Iterator[ParsedRow]:
    """Yield the item of every line that is not blank."""
    with source.text() as stream:
        for number, line in enumerate(read_lines(stream, _MAX_LINE_CHARS), start=1):
            if line is None:
                yield Fault(Place(number, number, source.part), "The line is too long.")
            elif line.strip():
                yield _jsonl_row(Place(number, number, source.part), line.lstrip("\ufeff"))


def _jsonl_row(place: Place, line: str) -> ParsedRow:
    try:
        entry = parse_object(line)
        item, annotations = read_line(entry, "")
        reading = read_reading(entry, item.id)
    except PagekeepError as error:
        return Fault(place, error.message, line.strip()[:500])
    return CompleteItem(place, item, None, annotations, reading=reading)


MAX_FILE_CHARS: Final = 20_000_000
_EXPORTED_NAME: Final = re.compile(r".+ [0-9a-f]{8}\.md")
_SOURCE_FIELD: Final = re.compile(r"^(?:source|url): *[\"']?https?://", re.M)
_LEVELS: Final = ("article", "simplified", "bookmark", "discarded")
_MIN_ARTICLE_WORDS: Final = 50
"""A file without a `quality` field is an article from here on, else a bookmark: fewer words are a description."""
_MAX_WORDS: Final = 100_000_000
_DERIVED: Final = ("site_name", "language", "hero_image", "description", "reason", "discarded")


def matches_markdown(sample: Sample) -> bool:
    """Return whether the frontmatter names an address."""
    head = sample.head.replace("\r\n", "\n")
    return head.startswith("---\n") and _SOURCE_FIELD.search(head.partition("\n---\n")[0]) is not None


def matches_tree(names: list[str]) -> bool:
    """Return whether most Markdown files are named like Pagekeep's exports."""
    pages = [name.rpartition("/")[2] for name in names if name.endswith(".md")]
    return len([name for name in pages if _EXPORTED_NAME.fullmatch(name)]) * 2 > len(pages)


def read_markdown(source: Source) -> Iterator[ParsedRow]:
    """Yield the item of a file."""
    yield _markdown_row(source, {})


def read_tree(tree: Tree) -> Iterator[ParsedRow]:
    """Yield the items of a folder, with pictures at their original addresses again."""
    names = tree.names()
    pictures = _read_picture_sources(tree) if PICTURE_SOURCES in names else {}
    for name in names:
        if name.endswith(".md"):
            yield _markdown_row(tree.source(name), pictures)


def _read_picture_sources(tree: Tree) -> dict[str, str]:
    try:
        with tree.source(PICTURE_SOURCES).text() as stream:
            sources = json.loads(stream.read(MAX_FILE_CHARS))
    except (PagekeepError, ValueError, RecursionError):
        return {}
    if not isinstance(sources, dict):
        return {}
    return {
        str(name): url
        for name, url in sources.items()
        if isinstance(url, str) and url.startswith(("http://", "https://"))
    }


def _markdown_row(source: Source, pictures: Mapping[str, str]) -> ParsedRow:
    place = Place(1, 1, source.part)
    try:
        with source.text() as stream:
            text = stream.read(MAX_FILE_CHARS + 1)
    except PagekeepError as error:  # a damaged file in an archive
        return Fault(place, error.message)
    if len(text) > MAX_FILE_CHARS:
        return Fault(place, f"The file is too large: the limit is {MAX_FILE_CHARS:,} characters.")
    try:
        document = markdown_files.read(replace_picture_urls(text, pictures) if pictures else text)
        return build_item(document, place, clock.now())
    except PagekeepError as error:
        return Fault(place, error.message, text[:500])


def build_item(document: Document, place: Place, now: str) -> CompleteItem:
    """Return the item that a file describes; raise `ParseError` when it does not name the page's address."""
    fields = _rename_obsidian_fields(document.fields)
    address = fields.get("url") or fields.get("source")
    if not isinstance(address, str):
        raise ParseError(
            "The file does not name the page's address.", suggestions=("Add `source: https://...` to its frontmatter.",)
        )
    url = normal_url.normalise(address)
    of_the_file = {*markdown_files.ITEM_FIELDS, markdown_files.REVISION_FIELD}
    stored = {name: value for name, value in fields.items() if name not in of_the_file}
    saved_at = _parse_time(fields.get("saved_at")) or now
    item = Item(
        id=_choose_id(document.id, url),
        user_id="",
        url=url,
        url_full=str(fields.get("source") or url),
        domain=normal_url.domain(url),
        title=" ".join(str(fields.get("title") or "").split()) or url,
        content=write_frontmatter(stored) + ("\n" if document.body else "") + document.body,
        source="markdown",
        author=_one_line(fields.get("author")),
        saved_at=min(saved_at, now),
        published_at=_one_line(fields.get("published_date")),
        metadata=_build_metadata(document, fields),
        created_at=now,
        updated_at=now,
    )
    return CompleteItem(place, item, None, tuple(_build_annotations(document.annotations, item)))


def _rename_obsidian_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields by Pagekeep's names where they have Obsidian's."""
    renamed = dict(fields)
    for theirs, ours in (("published", "published_date"), ("created", "saved_at")):
        if theirs in renamed and ours not in renamed:
            renamed[ours] = renamed.pop(theirs)
    if isinstance(renamed.get("author"), list):
        renamed["author"] = ", ".join(str(name) for name in renamed["author"] if name)
    return renamed


def _build_metadata(document: Document, fields: Mapping[str, Any]) -> ItemMetadata:
    words = count_words(document.body)
    level = fields.get("quality")
    quality = level if level in _LEVELS else "article" if words >= _MIN_ARTICLE_WORDS else "bookmark"
    flags = {name: True for name in ("pinned", "archived", "edited") if document.flag(name)}
    derived = {name: fields[name] for name in _DERIVED if isinstance(fields.get(name), (str, bool))}
    notes = {"notes": fields["notes"]} if isinstance(fields.get("notes"), str) else {}
    count = fields.get("word_count")
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= _MAX_WORDS:
        count = words
    own = {"tags": list(document.tags), "quality": quality, "strategy": "verbatim", "word_count": count}
    edits = _read_edits(fields)
    return metadata_from_json({**own, "reading_time": reading_time(count), **derived, **flags, **notes, **edits})


def _read_edits(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the user had edited; what the page says is not in the file."""
    named = fields.get(EDITED_FIELD)
    names = [name for name, ours in EDITED_NAMES.items() if isinstance(named, list) and ours in named]
    edits = {name: _one_line(fields.get(EDITED_NAMES[name])) for name in names}
    return {"edits": edits, "page_values": dict.fromkeys(edits)} if edits else {}


def _build_annotations(entries: tuple[FileAnnotation, ...], item: Item) -> Iterator[Annotation]:
    """Yield annotations whose times, a microsecond apart, keep the order of the file."""
    for number, entry in enumerate(entries):
        time = clock.add_seconds(item.saved_at, number / 1_000_000)
        yield Annotation(entry.id, item.id, entry.quote, "", "", entry.note, None, time, time)


def _choose_id(file_id: str | None, url: str) -> str:
    """Return the id in the file if it is valid, else one that is always the same for the same page."""
    try:
        return str(uuid.UUID(file_id)) if file_id else str(uuid.uuid5(uuid.NAMESPACE_URL, url))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, url))


def _one_line(value: object) -> str | None:
    return " ".join(str(value).split()) or None if isinstance(value, str) else None


def _parse_time(value: object) -> str | None:
    """Return a date or time in UTC, or `None` when the value is neither."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        return clock.format_time(time if time.tzinfo else time.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


_MARKER: Final = "pagekeep_row"
_TEXT_FIELDS: Final = ("url", "title", "author", "description", "language", "image", "note", "content", "source")


def format_failed(fault: Fault, source: str) -> str:
    """Return the line for a row that failed."""
    row = fault.row or Row(fault.place, "")
    fields = {name: value for name, value in asdict(row).items() if value and name not in ("place", "remarks")}
    # The key of the file format is older than the name of the field.
    fields = {"highlights" if name == "annotations" else name: value for name, value in fields.items()}
    line = {_MARKER: 1, "reason": fault.reason, "place": str(fault.place), "url": row.url, **fields}
    if fault.excerpt:
        line["excerpt"] = fault.excerpt
    return json.dumps({**line, "source": row.source or source}, ensure_ascii=False)


def matches_failed(sample: Sample) -> bool:
    """Return whether the first key is ours."""
    return sample.head.startswith(f'{{"{_MARKER}"')


def read_failed(source: Source) -> Iterator[ParsedRow]:
    """Yield the row of every line."""
    with source.text() as stream:
        for number, line in enumerate(read_lines(stream, _MAX_LINE_CHARS), 1):
            if line is None:
                yield Fault(Place(number, number, source.part), "The line is too long.")
            elif line.strip():
                yield _failed_row(Place(number, number, source.part), line)


def _failed_row(place: Place, line: str) -> ParsedRow:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        return Fault(place, "The line is not a JSON object.", line[:500])
    texts: dict[str, Any] = {name: parse_text(entry.get(name)) for name in _TEXT_FIELDS}
    return Row(
        place,
        **texts,
        saved_at=parse_time(entry.get("saved_at")),
        published_at=parse_publication_date(entry.get("published_at")),
        opened_at=parse_time(entry.get("opened_at")),
        tags=parse_names(entry.get("tags")),
        archived=parse_bool(entry.get("archived")),
        pinned=parse_bool(entry.get("pinned")),
        annotations=_failed_annotations(entry.get("highlights")),
    )


def _failed_annotations(value: Any) -> tuple[RowAnnotation, ...]:
    entries = [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []
    return tuple(
        RowAnnotation(
            parse_text(entry.get("quote")),
            parse_text(entry.get("note")),
            parse_time(entry.get("created_at")),
            parse_text(entry.get("colour")) or None,
        )
        for entry in entries
    )
