"""The records of a CSV file, each with the line on which it begins."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TextIO

from pagekeep.library.imports.input.row import Fault, Place
from pagekeep.library.imports.input.source import Source

_MAX_FIELD_CHARS: Final = 1_000_000
"""Python's own limit of 131,072 is too small for exports with long notes."""
_MAX_LINE_CHARS: Final = 2_000_000
"""Longer lines are cut, so that a file without line ends does not fill the memory."""
_MAX_HEADER_CHARS: Final = 2_000
_DELIMITERS: Final = (",", ";", "\t")
"""Spreadsheets write semicolons where the comma is the decimal sign."""


@dataclass(frozen=True, slots=True)
class Record:
    """A row of the table by column name in lower case; a missing column reads as an empty text."""

    place: Place
    fields: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.fields.get(name, "").strip()


def read_columns(head: str) -> tuple[str, ...]:
    """Return the column names in the first line of a text, or nothing when it is not a table."""
    line = _header_line(head)[:_MAX_HEADER_CHARS]
    try:
        cells = next(csv.reader([line.rstrip("\r")], delimiter=_guess_delimiter(line)), [])
    except csv.Error:
        return ()
    return tuple(name.strip().lower() for name in cells) if len(cells) > 1 else ()


def _header_line(head: str) -> str:
    return head.lstrip("\ufeff\r\n").partition("\n")[0]


def _guess_delimiter(line: str) -> str:
    return max(_DELIMITERS, key=line.count)


def read_records(source: Source) -> Iterator[Record | Fault]:
    """Yield every record below the header line."""
    csv.field_size_limit(max(csv.field_size_limit(), _MAX_FIELD_CHARS))
    names = read_columns(source.head)
    with source.text() as stream:
        reader = csv.reader(_read_lines(stream), delimiter=_guess_delimiter(_header_line(source.head)))
        yield from _read_body(reader, names, source.part)


def _read_lines(stream: TextIO) -> Iterator[str]:
    while line := stream.readline(_MAX_LINE_CHARS):
        yield line


def _read_body(reader: Iterator[list[str]], names: tuple[str, ...], part: str) -> Iterator[Record | Fault]:
    number, is_header = 0, True
    while True:
        line = getattr(reader, "line_num", 0) + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield Fault(Place(line, number + 1, part), f"The table is damaged here: {error}.")
            continue
        if cells is None:
            return
        if not any(cells):
            continue
        if is_header:
            is_header = False
            continue
        number += 1
        yield Record(Place(line, number, part), dict(zip(names, cells, strict=False)))
