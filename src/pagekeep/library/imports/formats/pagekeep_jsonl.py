"""Pagekeep's own JSON Lines: complete items of another library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.errors import PagekeepError
from pagekeep.library.exports.jsonl import MARKER, parse_object, read_line, read_reading
from pagekeep.library.imports.input.row import CompleteItem, Fault, ParsedRow, Place
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source, read_lines

_MAX_LINE_CHARS: Final = 64_000_000


def matches(sample: Sample) -> bool:
    """Return whether the first key of the first line is ours."""
    return sample.head.startswith((f'{{"{MARKER}":', f'{{"{MARKER}" :'))


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield the item of every line that is not blank."""
    with source.text() as stream:
        for number, line in enumerate(read_lines(stream, _MAX_LINE_CHARS), start=1):
            if line is None:
                yield Fault(Place(number, number, source.part), "The line is too long.")
            elif line.strip():
                yield _make_row(Place(number, number, source.part), line.lstrip("\ufeff"))


def _make_row(place: Place, line: str) -> ParsedRow:
    try:
        entry = parse_object(line)
        item, annotations = read_line(entry, "")
        reading = read_reading(entry, item.id)
    except PagekeepError as error:
        return Fault(place, error.message, line.strip()[:500])
    return CompleteItem(place, item, None, annotations, reading=reading)
