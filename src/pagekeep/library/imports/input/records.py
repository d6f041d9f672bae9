"""The records of CSV and JSON files, read one at a time, and the sample by which formats are recognised."""

from __future__ import annotations

import csv
import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TextIO, TypeVar

from pagekeep.errors import PagekeepError, ParseError
from pagekeep.library.imports.input.row import Fault, ParsedRow, Place
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


JsonObject = Mapping[str, Any]
T = TypeVar("T")

_CHUNK_CHARS: Final = 262_144
MAX_JSON_CHARS: Final = 64_000_000
_SPACE: Final = re.compile(r"[ \t\r\n\ufeff]*+")
_TAIL_CHARS: Final = 20
"""A syntax error this close to the end of the buffer may be a value that goes on in the next chunk."""
_NUMBER_CHARS: Final = frozenset("0123456789.eE+-")
_MAX_DIGITS: Final = 100
"""Longer integers become floating-point numbers: Python refuses to convert more than 4,300 digits."""
_DELIMITER: Final = re.compile(r'["\[\]{}]')
_TEXT_REST: Final = re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL)


def _parse_int(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


_DECODER: Final = json.JSONDecoder(strict=False, parse_int=_parse_int)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Takes the place of a value that is nested too deep or too long to be read."""

    reason: str


@dataclass(frozen=True, slots=True)
class Element:
    """An entry of an array, and where it begins."""

    value: Any
    line: int
    number: int


def read_objects(
    source: Source, make_row: Callable[[Place, JsonObject], ParsedRow], key: str | None = None
) -> Iterator[ParsedRow]:
    """Yield what `make_row` returns for every object of the file's list, and a fault for every other value."""
    with source.text() as stream:
        for element in read_elements(stream, key):
            place = Place(element.line, element.number, source.part)
            if isinstance(element.value, dict):
                yield make_row(place, element.value)
            elif isinstance(element.value, Skipped):
                yield Fault(place, element.value.reason)
            else:
                yield Fault(place, "This is not an entry.", repr(element.value)[:500])


def read_elements(stream: TextIO, key: str | None = None) -> Iterator[Element]:
    """Yield the entries of the file's array or, with a key, of the array under that key of the file's object.

    Raises `ParseError` where the file is damaged, after the entries before that point.
    """
    reader = _Reader(stream)
    if reader.peek() == "[" and key is None:
        yield from _read_array(reader)
    elif reader.peek() == "{" and key is not None:
        yield from _read_member(reader, key, lambda: _read_array(reader))
    else:
        raise ParseError("The file does not contain a list.")


def _read_member(reader: _Reader, key: str, read_array: Callable[[], Iterator[T]]) -> Iterator[T]:
    for name in _read_names(reader):
        if name == key and reader.peek() == "[":
            yield from read_array()
        elif reader.peek() == "[":
            for _ in _read_array(reader):  # skip entry by entry, to hold only one in memory
                pass
        else:
            reader.value()


def read_groups(stream: TextIO, key: str, inner: str) -> Iterator[tuple[int, str, Any]]:
    """Yield the objects of the array under `key` member by member: the object's number, the member's name and its value.

    The array under `inner` comes entry by entry, as `Element`.
    """
    reader = _Reader(stream)
    yield from _read_member(reader, key, lambda: _read_group_array(reader, inner))


def _read_group_array(reader: _Reader, inner: str) -> Iterator[tuple[int, str, Any]]:
    reader.take("[")
    number = 0
    while reader.peek() != "]":
        number += 1
        if reader.peek() == "{":
            for name in _read_names(reader):
                if name == inner and reader.peek() == "[":
                    yield from ((number, inner, element) for element in _read_array(reader))
                else:
                    yield number, name, reader.value()
        else:
            reader.value()
        _end_entry(reader)
    reader.take("]")


def _read_names(reader: _Reader) -> Iterator[str]:
    """Yield the names of an object's members; the caller steps over each value."""
    reader.take("{")
    while reader.peek() == '"':
        name = reader.value()
        reader.take(":")
        yield name if isinstance(name, str) else ""
        if reader.peek() == ",":
            reader.take(",")
    reader.take("}")


def _end_entry(reader: _Reader) -> None:
    if reader.peek() == ",":
        reader.take(",")
    elif reader.peek() != "]":
        raise reader.error("an entry does not end")


def _read_array(reader: _Reader) -> Iterator[Element]:
    reader.take("[")
    number = 0
    while reader.peek() != "]":
        number += 1
        line = reader.line
        yield Element(reader.value(), line, number)
        _end_entry(reader)
    reader.take("]")


class _Reader:
    """Reads a stream as far as the next value needs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._buffer, self._at, self._ended = "", 0, False
        self.line = 1

    def peek(self) -> str:
        """Return the next character that is not a space, or an empty text at the end."""
        while True:
            space = _SPACE.match(self._buffer, self._at)
            self._advance(space.end() if space else self._at)
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._read_more():
                return ""

    def take(self, char: str) -> None:
        """Step over this character."""
        if self.peek() != char:
            raise self.error(f"there is no {char}")
        self._advance(self._at + 1)

    def value(self) -> Any:
        """Step over a value and return it."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                if len(self._buffer) - self._at > MAX_JSON_CHARS:
                    return self._skip_value("The entry is too long.")
                if not self._may_continue(error) or not self._read_more():
                    raise self.error(error.msg) from None
                continue
            except RecursionError:
                return self._skip_value("The entry is nested too deep.")
            if self._is_complete(value, end) or not self._read_more():
                self._advance(end)
                return value

    def _skip_value(self, reason: str) -> Skipped:
        """Step over a text, array or object without keeping it."""
        depth = 0
        while True:
            sign = self._next_delimiter()
            if sign == '"':
                self._skip_text()
            else:
                depth += 1 if sign in "[{" else -1
            if depth <= 0:
                return Skipped(reason)

    def _next_delimiter(self) -> str:
        while True:
            match = _DELIMITER.search(self._buffer, self._at)
            self._advance(match.end() if match else len(self._buffer))
            if match:
                return match[0]
            if not self._read_more():
                raise self.error("a value does not end")

    def _skip_text(self) -> None:
        while True:
            match = _TEXT_REST.match(self._buffer, self._at)
            self._advance(match.end() if match else self._at)
            if self._buffer.startswith('"', self._at):
                self._advance(self._at + 1)
                return
            if not self._read_more():
                raise self.error("a text does not end")

    def _is_complete(self, value: Any, end: int) -> bool:
        """Return whether a value cannot go on in the next chunk; a number at the end of the buffer can."""
        if isinstance(value, (int, float)):
            return end < len(self._buffer) and self._buffer[end] not in _NUMBER_CHARS
        return True

    def error(self, reason: str) -> ParseError:
        """Return the error to raise for a damaged file."""
        return ParseError(f"The file is damaged at line {self.line}: {reason}.")

    def _may_continue(self, error: json.JSONDecodeError) -> bool:
        at_end = error.pos >= len(self._buffer) - _TAIL_CHARS
        return not self._ended and (error.msg.startswith("Unterminated") or at_end)

    def _advance(self, end: int) -> None:
        self.line += self._buffer.count("\n", self._at, end)
        self._at = end

    def _read_more(self) -> bool:
        """Read on, doubling the buffer each time, so that a long entry is not decoded too often."""
        if self._ended:
            return False
        rest = self._buffer[self._at :]
        piece = self._stream.read(max(_CHUNK_CHARS, len(rest)))
        self._ended = not piece
        self._buffer, self._at = rest + piece, 0
        return bool(piece)


_MAX_SEARCHED_CHARS: Final = 2_000_000
"""How far `has_list` looks for a key: other lists may come before it."""


@dataclass(frozen=True)
class Sample:
    """The beginning of a file; each form is computed when a format first asks for it."""

    source: Source

    @cached_property
    def head(self) -> str:
        """The text from its first visible character."""
        return self.source.head.lstrip("\ufeff \t\r\n")

    @cached_property
    def lower(self) -> str:
        """The text in lower case."""
        return self.head.lower()

    @cached_property
    def columns(self) -> frozenset[str]:
        """The column names in lower case, if the file is a CSV table."""
        return frozenset() if self.head[:1] in ("", "<", "{", "[") else frozenset(read_columns(self.head))

    @cached_property
    def first(self) -> Mapping[str, Any]:
        """The first entry, if the file is a JSON array of objects."""
        if not self.head.startswith("["):
            return {}
        try:
            with self.source.text() as stream:
                element = next(read_elements(stream), None)
        except PagekeepError:
            return {}
        return element.value if element is not None and isinstance(element.value, dict) else {}

    def has_list(self, name: str, key: str) -> bool:
        """Return whether the file is a JSON object with an array `name` that is empty or whose entries have `key`."""
        if not self.head.startswith("{") or f'"{name}"' not in self._searched:
            return False
        try:
            with self.source.text() as stream:
                element = next(read_elements(stream, name), None)
        except PagekeepError:
            return False
        if element is not None and isinstance(element.value, Skipped):
            return f'"{key}"' in self._searched
        return element is None or (isinstance(element.value, dict) and key in element.value)

    @cached_property
    def _searched(self) -> str:
        with self.source.text() as stream:
            return stream.read(_MAX_SEARCHED_CHARS)
