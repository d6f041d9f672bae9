"""Rows that could not be imported, kept in a file of their own: one JSON object a line, to be mended and imported again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from pagekeep.library.imports.input.row import Fault, Found, Highlight, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source
from pagekeep.library.imports.input.values import moment, names, published, text, truth

_MARK: Final = "pagekeep_row"
_TEXTS: Final = ("url", "title", "author", "description", "language", "image", "note", "content", "source")
_LONGEST_LINE: Final = 64_000_000


def written(fault: Fault, source: str) -> str:
    """A line of the file."""
    row = fault.row or Row(fault.place, "")
    kept = {name: value for name, value in asdict(row).items() if value and name not in ("place", "remarks")}
    line = {_MARK: 1, "reason": fault.reason, "place": str(fault.place), "url": row.url, **kept}
    if fault.excerpt:
        line["excerpt"] = fault.excerpt
    return json.dumps({**line, "source": row.source or source}, ensure_ascii=False)


def knows(sample: Sample) -> bool:
    """By its first key."""
    return sample.head.startswith(f'{{"{_MARK}"')


def rows(source: Source) -> Iterator[Found]:
    """Every line."""
    with source.text() as stream:
        for number, line in enumerate(iter(lambda: stream.readline(_LONGEST_LINE), ""), 1):
            if line.strip():
                yield _row(Place(number, number, source.part), line)


def _row(place: Place, line: str) -> Found:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        return Fault(place, "The line is no JSON object.", line[:500])
    return Row(
        place,
        **_texts(entry),
        saved_at=moment(entry.get("saved_at")),
        published_at=published(entry.get("published_at")),
        opened_at=moment(entry.get("opened_at")),
        tags=names(entry.get("tags")),
        archived=truth(entry.get("archived")),
        pinned=truth(entry.get("pinned")),
        highlights=_highlights(entry.get("highlights")),
    )


def _texts(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: text(entry.get(name)) for name in _TEXTS}


def _highlights(value: Any) -> tuple[Highlight, ...]:
    entries = [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []
    return tuple(
        Highlight(
            text(entry.get("quote")),
            text(entry.get("note")),
            moment(entry.get("created_at")),
            text(entry.get("colour")) or None,
        )
        for entry in entries
    )
