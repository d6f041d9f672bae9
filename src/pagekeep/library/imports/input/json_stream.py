"""The entries of a JSON file one after the other: a file of a gigabyte takes the memory of its largest entry."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TextIO, TypeVar

from pagekeep.errors import ParseError
from pagekeep.library.imports.input.row import Fault, ParsedRow, Place
from pagekeep.library.imports.input.source import Source

JsonObject = Mapping[str, Any]
T = TypeVar("T")

_CHUNK_CHARS: Final = 262_144
MAX_ENTRY_CHARS: Final = 64_000_000
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
                if len(self._buffer) - self._at > MAX_ENTRY_CHARS:
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
