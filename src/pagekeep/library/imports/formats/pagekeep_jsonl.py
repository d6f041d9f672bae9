"""Our own lines of JSON: items of another library, complete."""

from __future__ import annotations

from collections.abc import Iterator

from pagekeep.errors import PagekeepError
from pagekeep.library.exports.jsonl import MARK, read_line
from pagekeep.library.imports.input.row import Fault, Found, Place, Whole
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source


def knows(sample: Sample) -> bool:
    """By the first key of the first line."""
    return sample.head.startswith((f'{{"{MARK}":', f'{{"{MARK}" :'))


def rows(source: Source) -> Iterator[Found]:
    """Every line that is not blank."""
    with source.text() as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield _row(Place(number, number, source.part), line.lstrip("\ufeff"))


def _row(place: Place, line: str) -> Found:
    try:
        item, annotations = read_line(line, "")
    except PagekeepError as error:
        return Fault(place, error.message, line.strip()[:500])
    return Whole(place, item, None, annotations)
