"""The records of a CSV file, with the lines on which they begin."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TextIO

from pagekeep.library.imports.input.row import Fault, Place
from pagekeep.library.imports.input.source import Source

_LONGEST_FIELD: Final = 1_000_000
_LONGEST_LINE: Final = 2_000_000
_DELIMITERS: Final = (",", ";", "\t")


@dataclass(frozen=True, slots=True)
class Record:
    """A row of the table by the names of its columns, in lower case; columns that are missing are empty."""

    place: Place
    fields: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.fields.get(name, "").strip()


def columns(head: str) -> tuple[str, ...]:
    """The names of the columns in the first line of a text; nothing when it is no table."""
    line = head.lstrip("\ufeff\r\n").partition("\n")[0][:2_000]
    try:
        found = next(csv.reader([line.rstrip("\r")], delimiter=_delimiter(line)), [])
    except csv.Error:
        return ()
    return tuple(name.strip().lower() for name in found) if len(found) > 1 else ()


def _delimiter(line: str) -> str:
    """Spreadsheets of some countries write semicolons."""
    return max(_DELIMITERS, key=line.count)


def records(source: Source) -> Iterator[Record | Fault]:
    """Every record below the first line."""
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
    names = columns(source.head)
    line = source.head.lstrip("\ufeff\r\n").partition("\n")[0]
    with source.text() as stream:
        reader = csv.reader(_lines(stream), delimiter=_delimiter(line))
        yield from _below(reader, names, source.part)


def _lines(stream: TextIO) -> Iterator[str]:
    while line := stream.readline(_LONGEST_LINE):
        yield line


def _below(reader: Iterator[list[str]], names: tuple[str, ...], part: str) -> Iterator[Record | Fault]:
    number, heading = 0, True
    while True:
        line = getattr(reader, "line_num", 0) + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield Fault(Place(line, number + 1, part), f"The table is broken here: {error}.")
            continue
        if cells is None:
            return
        if not any(cells):
            continue
        if heading:
            heading = False
            continue
        number += 1
        yield Record(Place(line, number, part), dict(zip(names, cells, strict=False)))
