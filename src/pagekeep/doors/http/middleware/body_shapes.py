"""Count the values of JSON and form bodies while they arrive: parsing millions of them would block the server.

Large bodies of our clients hold one long text, the page, and few other values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

MAX_STRINGS: Final = 20_000
"""Strings of a JSON body; the longest lists that routes accept have 1,000."""
MAX_OTHER_BYTES: Final = 200_000
"""Bytes of a JSON body outside its strings: numbers, brackets, commas and spaces."""
MAX_FIELDS: Final = 2_000
"""Fields of a form."""


class Shape(Protocol):
    """Counts the values of one body."""

    def add(self, part: bytes) -> bool:
        """Count the next part; return whether there are too many values."""


class JsonShape:
    """Strings of a JSON body, and bytes outside them. What is not JSON at all is left to the parser."""

    def __init__(self) -> None:
        self._rest = b""
        self._inside = False
        self._quotes = 0
        self._others = 0

    def add(self, part: bytes) -> bool:
        """Count the next part; return whether there are too many values."""
        part = self._rest + part
        backslashes = len(part) - len(part.rstrip(b"\\"))
        self._rest = b"\\" if backslashes % 2 else b""  # it belongs to the next byte
        part = part[: len(part) - len(self._rest)]
        # Without escapes every quote starts or ends a string.
        pieces = part.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        self._quotes += len(pieces) - 1
        self._others += sum(map(len, pieces[1 if self._inside else 0 :: 2]))
        self._inside ^= len(pieces) % 2 == 0
        return self._quotes > 2 * MAX_STRINGS or self._others > MAX_OTHER_BYTES


class FormShape:
    """Fields of a URL-encoded form."""

    def __init__(self) -> None:
        self._fields = 0

    def add(self, part: bytes) -> bool:
        """Count the next part; return whether there are too many values."""
        self._fields += part.count(b"&")
        return self._fields > MAX_FIELDS


def shape_of(headers: Iterable[tuple[bytes, bytes]]) -> Shape | None:
    """Return what counts the values of a body with these headers. Parts of multipart forms are counted by their parser."""
    kind = dict(headers).get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind == b"application/x-www-form-urlencoded":
        return FormShape()
    return None if kind == b"multipart/form-data" else JsonShape()
