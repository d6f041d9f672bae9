"""OneTab, and plain lists of addresses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.library.imports.input.row import Found, Place, Row
from pagekeep.library.imports.input.sample import Sample
from pagekeep.library.imports.input.source import Source

_LONGEST_LINE: Final = 100_000


def knows(sample: Sample) -> bool:
    """By its first line, which is an address."""
    lines = (line.strip() for line in sample.head.splitlines()[:200])
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return first.lower().startswith(("http://", "https://"))


def rows(source: Source) -> Iterator[Found]:
    """Every line with words on it: an address, and behind ` | ` a title."""
    number = 0
    with source.text() as stream:
        for line, written in enumerate(iter(lambda: stream.readline(_LONGEST_LINE), ""), 1):
            said = written.strip("\ufeff \t\r\n")
            if not said or said.startswith("#"):
                continue
            number += 1
            url, _, title = said.partition(" | ")
            yield Row(Place(line, number, source.part), url=url.strip(), title=title.strip())
