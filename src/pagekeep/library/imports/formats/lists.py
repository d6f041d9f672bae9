"""OneTab, and plain lists of addresses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.library.imports.input.row import ParsedRow, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source

_MAX_LINE_CHARS: Final = 100_000


def matches(sample: Sample) -> bool:
    """Return whether the first line that is not a comment is an address."""
    lines = (line.strip() for line in sample.head.splitlines()[:200])
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return first.lower().startswith(("http://", "https://"))


def read(source: Source) -> Iterator[ParsedRow]:
    """Yield every line that is not empty or a comment: an address, and after ` | ` a title."""
    number = 0
    with source.text() as stream:
        for line_number, line in enumerate(iter(lambda: stream.readline(_MAX_LINE_CHARS), ""), 1):
            text = line.strip("\ufeff \t\r\n")
            if not text or text.startswith("#"):
                continue
            number += 1
            url, _, title = text.partition(" | ")
            yield Row(Place(line_number, number, source.part), url=url.strip(), title=title.strip())
