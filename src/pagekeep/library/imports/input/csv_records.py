"""The records of a CSV file, each with the line on which it begins."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TextIO

from pagekeep.library.imports.input.row import Fault, Place
from pagekeep.library.imports.input.source import Source

_MAX_LINE_CHARS: Final = 2_000_000
"""Longer lines are cut, so that a file without line ends does not fill the memory."""
_MAX_RECORD_CHARS: Final = 8_000_000
"""Of a row, and of each field in it: Python's own limit of 131,072 is too small for exports with long notes."""
_MAX_RETRIES: Final = 20
"""How often lines are read again: each time costs up to `_MAX_RECORD_CHARS`."""
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
    """Yield every record below the header line.

    A quotation mark that is never closed would take in all lines that follow: such a record is a fault, and reading goes
    on at its second line.
    """
    csv.field_size_limit(max(csv.field_size_limit(), _MAX_RECORD_CHARS))
    names, delimiter = read_columns(source.head), _guess_delimiter(_header_line(source.head))
    number, is_header = 0, True
    with source.text() as stream:
        lines = _Lines(stream)
        for line, cells in _read_cells(lines, delimiter, len(names)):
            place = Place(line, number + 1, source.part)
            if isinstance(cells, str):
                yield Fault(place, f"The table is damaged here: {cells}.")
            elif is_header:
                is_header = False
            else:
                number += 1
                yield Record(place, dict(zip(names, cells, strict=False)))


def _read_cells(lines: _Lines, delimiter: str, columns: int) -> Iterator[tuple[int, list[str] | str]]:
    """Yield the line on which each record begins and its cells, or what is wrong with it; blank ones are left out."""
    retries = _MAX_RETRIES
    while not lines.ended:
        lines.begin_record()
        begin = lines.number + 1
        try:
            cells: list[str] | str = next(csv.reader(lines, delimiter=delimiter), [])
        except csv.Error as error:
            cells = str(error)
        if retries and lines.spans_too_much(cells, columns):
            retries -= 1
            lines.go_back()
            cells = "a quotation mark is not closed"
        if isinstance(cells, str) or any(cells):
            yield begin, cells


class _Lines(Iterator[str]):
    """The lines of a table; those of the current record can be read again."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._waiting: deque[str] = deque()
        self._record: list[str] = []
        self._chars = 0
        self.number = 0
        self.ended = False

    def begin_record(self) -> None:
        self._record, self._chars = [], 0

    def __next__(self) -> str:
        line = self._waiting.popleft() if self._waiting else self._stream.readline(_MAX_LINE_CHARS)
        self._chars += len(line)
        if not line:
            self.ended = True
            raise StopIteration
        self.number += 1
        self._record.append(line)
        if self._chars > _MAX_RECORD_CHARS:
            raise csv.Error("the row is too long")
        return line

    def spans_too_much(self, cells: list[str] | str, columns: int) -> bool:
        """Return whether the record has most likely taken in lines of others."""
        if len(self._record) < 2:
            return False
        open_quote = self.ended and "".join(self._record).count('"') % 2 == 1
        if isinstance(cells, str) or open_quote:
            return True
        return len(cells) > columns and not (len(cells) == columns + 1 and not cells[-1])

    def go_back(self) -> None:
        """Read the record's lines again, without the first."""
        self._waiting.extendleft(reversed(self._record[1:]))
        self.number -= len(self._record) - 1
        self.ended = False
