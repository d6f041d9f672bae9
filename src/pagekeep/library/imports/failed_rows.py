"""The file of rows that could not be imported, one JSON object per line: users fix it and import it again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from pagekeep.library.imports.input.row import Fault, ParsedRow, Place, Row, RowAnnotation
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source, read_lines
from pagekeep.library.imports.input.values import (
    parse_bool,
    parse_names,
    parse_publication_date,
    parse_text,
    parse_time,
)

_MARKER: Final = "pagekeep_row"
_TEXT_FIELDS: Final = ("url", "title", "author", "description", "language", "image", "note", "content", "source")
_MAX_LINE_CHARS: Final = 64_000_000


def format_line(fault: Fault, source: str) -> str:
    """Return the line for a row that failed."""
    row = fault.row or Row(fault.place, "")
    fields = {name: value for name, value in asdict(row).items() if value and name not in ("place", "remarks")}
    # The key of the file format is older than the name of the field.
    fields = {"highlights" if name == "annotations" else name: value for name, value in fields.items()}
    line = {_MARKER: 1, "reason": fault.reason, "place": str(fault.place), "url": row.url, **fields}
    if fault.excerpt:
        line["excerpt"] = fault.excerpt
    return json.dumps({**line, "source": row.source or source}, ensure_ascii=False)


def matches(sample: Sample) -> bool:
    """Return whether the first key is ours."""
    return sample.head.startswith(f'{{"{_MARKER}"')


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield the row of every line."""
    with source.text() as stream:
        for number, line in enumerate(read_lines(stream, _MAX_LINE_CHARS), 1):
            if line is None:
                yield Fault(Place(number, number, source.part), "The line is too long.")
            elif line.strip():
                yield _parse_line(Place(number, number, source.part), line)


def _parse_line(place: Place, line: str) -> ParsedRow:
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
        annotations=_parse_annotations(entry.get("highlights")),
    )


def _parse_annotations(value: Any) -> tuple[RowAnnotation, ...]:
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
