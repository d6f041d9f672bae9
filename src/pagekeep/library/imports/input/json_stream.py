"""The entries of a JSON file one after the other: files of a gigabyte are read in the memory of their largest entry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TextIO

from pagekeep.errors import ParseError

_CHUNK: Final = 262_144
LARGEST_ENTRY: Final = 64_000_000
"""Characters."""
_SPACE: Final = re.compile(r"[ \t\r\n\ufeff]*+")
_NEAR: Final = 20
"""An error so close to the end of what was read may come from what was not."""
_IN_NUMBERS: Final = frozenset("0123456789.eE+-")
_DECODER: Final = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Element:
    """An entry of an array, and where it begins."""

    value: Any
    line: int
    number: int


def elements(stream: TextIO, key: str | None = None) -> Iterator[Element]:
    """The entries of the array that the file is, or that its object has under the key.

    `ParseError` where the file is broken; what came before it has been given by then.
    """
    reader = _Reader(stream)
    if reader.peek() == "[" and key is None:
        yield from _entries(reader)
    elif reader.peek() == "{" and key is not None:
        yield from _member(reader, key)
    else:
        raise ParseError("The file does not hold a list.")


def _member(reader: _Reader, key: str) -> Iterator[Element]:
    reader.take("{")
    while reader.peek() == '"':
        name = reader.value()
        reader.take(":")
        if name == key and reader.peek() == "[":
            yield from _entries(reader)
        elif reader.peek() == "[":
            for _ in _entries(reader):  # passed over entry by entry, so that it need not be held
                pass
        else:
            reader.value()
        if reader.peek() == ",":
            reader.take(",")
    reader.take("}")


def _entries(reader: _Reader) -> Iterator[Element]:
    reader.take("[")
    number = 0
    while reader.peek() != "]":
        number += 1
        line = reader.line
        yield Element(reader.value(), line, number)
        if reader.peek() == ",":
            reader.take(",")
        elif reader.peek() != "]":
            raise reader.broken("an entry does not end")
    reader.take("]")


class _Reader:
    """Reads on as far as the next value needs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._buffer, self._at, self._ended = "", 0, False
        self.line = 1

    def peek(self) -> str:
        """The next character that is no space; nothing at the end."""
        while True:
            space = _SPACE.match(self._buffer, self._at)
            self._go(space.end() if space else self._at)
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more():
                return ""

    def take(self, char: str) -> None:
        """Step over this character."""
        if self.peek() != char:
            raise self.broken(f"there is no {char}")
        self._go(self._at + 1)

    def value(self) -> Any:
        """Step over a value."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                if not self._may_go_on(error) or not self._more():
                    raise self.broken(error.msg) from None
                continue
            except (RecursionError, ValueError):  # nested too deep, or a number of too many digits
                raise self.broken("a value is too deep or too long") from None
            if self._is_whole(value, end) or not self._more():
                self._go(end)
                return value

    def _is_whole(self, value: Any, end: int) -> bool:
        """A number at the end of what was read may go on: `1.` is read as 1."""
        if isinstance(value, (int, float)):
            return end < len(self._buffer) and self._buffer[end] not in _IN_NUMBERS
        return True

    def broken(self, why: str) -> ParseError:
        """What is told about a broken file."""
        return ParseError(f"The file is broken at line {self.line}: {why}.")

    def _may_go_on(self, error: json.JSONDecodeError) -> bool:
        return not self._ended and (error.msg.startswith("Unterminated") or error.pos >= len(self._buffer) - _NEAR)

    def _go(self, end: int) -> None:
        self.line += self._buffer.count("\n", self._at, end)
        self._at = end

    def _more(self) -> bool:
        """Read on, twice as much each time, so that a long entry is not tried too often."""
        if self._ended:
            return False
        rest = self._buffer[self._at :]
        if len(rest) > LARGEST_ENTRY:
            raise self.broken("an entry is too long")
        piece = self._stream.read(max(_CHUNK, len(rest)))
        self._ended = not piece
        self._buffer, self._at = rest + piece, 0
        return bool(piece)
