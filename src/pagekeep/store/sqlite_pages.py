"""Reading rows from the pages of an SQLite file without SQLite, which gives up at the first damaged page.

The format: https://www.sqlite.org/fileformat2.html. Each page is read on its own, so a damaged one costs only its own rows.
Pages on the list of free pages are left out, as they hold deleted rows.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

Value = int | float | bytes | None | str
TABLE_LEAF: Final = 0x0D
INDEX_LEAF: Final = 0x0A
INDEX_INTERIOR: Final = 0x02
_MAGIC: Final = b"SQLite format 3\x00"
_FILE_HEADER: Final = 100
"""Bytes of the file header, at the beginning of page 1."""
_DEFAULT_PAGE: Final = 2048
"""The page size of every library, for a file whose header is damaged."""
_INTEGER_BYTES: Final = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}


class Row(NamedTuple):
    """A row of a table or an entry of an index."""

    rowid: int
    """0 in an index, where it is the last value."""
    values: list[Value]
    """Texts are bytes here."""
    texts: list[bool]
    """Which values are texts."""
    missing: int
    """Bytes that could not be read, at the end of the last value."""


class Pages:
    """The pages of a file."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        self._data = data
        self.header_intact = data[:16] == _MAGIC
        size = int.from_bytes(data[16:18])
        size = 65536 if size == 1 else size
        if not self.header_intact or size < 512 or size & (size - 1):
            self.header_intact, size = False, _DEFAULT_PAGE
        self.size = size
        self.count = len(data) // size
        self.free: set[int] = set()
        """Numbers of the free pages."""
        self.free_intact = self.header_intact and self._read_free_list()

    def leaves(self, *kinds: int) -> Iterator[int]:
        """Yield the numbers of the used pages of these kinds, from 1."""
        for number in range(1, self.count + 1):
            start = (number - 1) * self.size + (_FILE_HEADER if number == 1 else 0)
            if self._data[start] in kinds and number not in self.free:
                yield number

    def rows(self, number: int) -> Iterator[Row]:
        """Yield the rows of a page that can be read."""
        page = self._page(number)
        start = _FILE_HEADER if number == 1 else 0
        kind = page[start]
        cells = start + (12 if kind == INDEX_INTERIOR else 8)
        for index in range(int.from_bytes(page[start + 3 : start + 5])):
            pointer = page[cells + 2 * index : cells + 2 * index + 2]
            try:
                yield self._row(page, int.from_bytes(pointer), kind)
            except (IndexError, ValueError, struct.error):
                continue

    def _page(self, number: int) -> bytes:
        return self._data[(number - 1) * self.size : number * self.size]

    def _read_free_list(self) -> bool:
        """Collect the free pages; return False when the list is damaged."""
        trunk, total = int.from_bytes(self._data[32:36]), int.from_bytes(self._data[36:40])
        while trunk:
            if trunk > self.count or trunk in self.free:
                return False
            page = self._page(trunk)
            count = int.from_bytes(page[4:8])
            if count > self.size // 4 - 2:
                return False
            self.free |= {trunk, *struct.unpack_from(f">{count}I", page, 8)}
            trunk = int.from_bytes(page[:4])
        return len(self.free) == total

    def _row(self, page: bytes, at: int, kind: int) -> Row:
        if at < 8 or at >= self.size:
            raise ValueError
        if kind == INDEX_INTERIOR:
            at += 4  # the number of the child page
        length, at = _varint(page, at)
        rowid, most = 0, (self.size - 12) * 64 // 255 - 23
        if kind == TABLE_LEAF:
            rowid, at = _varint(page, at)
            most = self.size - 35
        payload = self._payload(page, at, length, most)
        return _decode(rowid, payload, length)

    def _payload(self, page: bytes, at: int, length: int, most: int) -> bytes:
        """Return the bytes of a row, with those on its overflow pages as far as they can be read."""
        if length > len(self._data):
            raise ValueError
        if length <= most:
            return page[at : at + length]
        least = (self.size - 12) * 32 // 255 - 23
        local = least + (length - least) % (self.size - 4)
        local = local if local <= most else least
        parts, left = [page[at : at + local]], length - local
        following = int.from_bytes(page[at + local : at + local + 4])
        while left > 0:
            if not 1 < following <= self.count or following in self.free:
                return b"".join(parts)
            overflow = self._page(following)
            following = int.from_bytes(overflow[:4])
            part = overflow[4 : 4 + left]
            if not (following == 0 if len(part) == left else 1 < following <= self.count):
                return b"".join(parts)  # this page is damaged: its pointer is wrong, so its content is too
            parts.append(part)
            left -= len(part)
        return b"".join(parts)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of 1 to 9 bytes, and the position after it."""
    value = 0
    for index in range(8):
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    value = value << 8 | data[at + 8]
    return (value - (1 << 64) if value >> 63 else value), at + 9


def _decode(rowid: int, payload: bytes, length: int) -> Row:
    """Return the values of a row; `ValueError` when it is damaged anywhere but in its last value."""
    end, at = _varint(payload, 0)
    if not 0 < end <= min(length, len(payload)):
        raise ValueError
    types = []
    while at < end:
        serial, at = _varint(payload, at)
        types.append(serial)
    if at != end or not types or min(types) < 0 or {10, 11} & set(types):
        raise ValueError
    sizes = [_INTEGER_BYTES[serial] if serial < 10 else (serial - 12) // 2 for serial in types]
    if end + sum(sizes) != length:
        raise ValueError
    missing = length - len(payload)
    if missing > sizes[-1]:
        raise ValueError
    values: list[Value] = []
    for serial, size in zip(types, sizes, strict=True):
        values.append(_value(serial, payload[at : at + size]))
        at += size
    return Row(rowid, values, [serial >= 13 and serial % 2 == 1 for serial in types], missing)


def _value(serial: int, data: bytes) -> Value:
    if serial == 0:
        return None
    if serial == 7:
        return float(struct.unpack(">d", data)[0])
    if serial in (8, 9):
        return serial - 8
    return int.from_bytes(data, signed=True) if serial < 7 else data
