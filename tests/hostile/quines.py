"""ZIP archives that contain themselves, or each other a thousand times. All are made here; none is a file of others."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import Final

_UNIT: Final = 100
"""Bytes of each operation of the quine; they are all the same, so that operations can be counted like bytes."""
_STORED: Final = bytes(3) + b"\xff\xff"
"""An empty block of stored bytes, which fills an operation up."""
_LENGTHS: Final = (3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258)  # fmt: skip
"""The first length of each code of deflate, from 257 on."""


def make_quine(files: Mapping[str, bytes], name: str) -> bytes:
    """Return an archive of the files and of one more, `name`, which unpacks to the archive itself, byte by byte.

    The method is that of Russ Cox, "Zip files all the way down": a program of two operations, "copy these bytes" and "repeat
    the last bytes", which prints itself. The checksum, which the archive contains too, is found by linear algebra.
    """
    before = _pack(files)
    listed = before.rindex(b"PK\x05\x06")
    (start,) = struct.unpack_from("<L", before, listed + 16)
    parts, entries = before[:start], before[start:listed]

    def build(checksum: int, size: int, packed: int) -> tuple[bytes, int]:
        """Return the archive as it would be with these numbers, and the packed size of its file."""
        fields = struct.pack("<3L2H", checksum, packed, size, len(name.encode()), 0)
        common = struct.pack("<5H", 20, 0, zipfile.ZIP_DEFLATED, 0, 33) + fields
        local = b"PK\x03\x04" + common + name.encode()
        entry = b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<3H2L", 0, 0, 0, 0, start) + name.encode()
        index = entries + entry
        count, place = len(files) + 1, start + len(local) + packed
        end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(index), place, 0)
        body = _self_printing(parts + local, b"\x01" + _STORED[1:] + index + end)
        return parts + local + body + index + end, len(body)

    draft, packed = build(0, 0, 0)
    checksum = _fixed_point(lambda value: zlib.crc32(build(value, len(draft), packed)[0]))
    return build(checksum, len(draft), packed)[0]


def nest(data: bytes, depth: int, name: str = "a.zip") -> bytes:
    """Return an archive in an archive, and so on, `depth` deep; the innermost file is `data`."""
    for _ in range(depth):
        data = _pack({name: data}, stored=name)
    return data


def swallow(data: bytes, name: str) -> bytes:
    """Return the archive with one more file, whose bytes are all that follows its header: the list of files and its end too."""
    listed = data.rindex(b"PK\x05\x06")
    (start,) = struct.unpack_from("<L", data, listed + 16)
    (count,) = struct.unpack_from("<H", data, listed + 10)
    raw = name.encode()

    def build(checksum: int, size: int) -> tuple[bytes, bytes]:
        common = struct.pack("<5H3L2H", 20, 0, zipfile.ZIP_STORED, 0, 33, checksum, size, size, len(raw), 0)
        entry = b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<3H2L", 0, 0, 0, 0, 0) + raw
        local = b"PK\x03\x04" + common + raw
        index = _shifted(data[start:listed], len(local)) + entry
        end = (b"PK\x05\x06", 0, 0, count + 1, count + 1, len(index), len(local) + start, 0)
        return local, data[:start] + index + struct.pack("<4s4H2LH", *end)

    size = len(build(0, 0)[1])
    checksum = _fixed_point(lambda value: zlib.crc32(build(value, size)[1]))
    return b"".join(build(checksum, size))


def _pack(files: Mapping[str, bytes], stored: str | None = None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            method = zipfile.ZIP_STORED if name in ("mimetype", stored) else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def _shifted(index: bytes, by: int) -> bytes:
    """Return a list of files that all begin later."""
    out, place = bytearray(index), 0
    while place < len(out):
        name, extra, comment = struct.unpack_from("<3H", out, place + 28)
        (offset,) = struct.unpack_from("<L", out, place + 42)
        struct.pack_into("<L", out, place + 42, offset + by)
        place += 46 + name + extra + comment
    return bytes(out)


def _self_printing(head: bytes, tail: bytes) -> bytes:
    """Return what follows `head` and precedes the rest of `tail`, which begins with the last block of the packed bytes."""
    copy_head, repeat_head = _copy(len(head) + _UNIT), _repeat(len(head) + _UNIT)
    copy_tail, repeat_tail = _copy(len(tail) + _UNIT), _repeat(len(tail) + _UNIT)
    none, one, four, again = _copy(0), _copy(_UNIT), _copy(4 * _UNIT), _repeat(4 * _UNIT)
    program = (
        *(copy_head, head, copy_head, repeat_head),
        *(one, repeat_head, one, one),
        *(four, repeat_head, one, one, four, again),
        *(four, again, four, again, four, again),
        *(four, again, none, none, copy_tail, again),
        *(none, none, copy_tail, repeat_tail, tail, repeat_tail),
    )
    return b"".join(program) + tail[: len(_STORED)]


def _copy(count: int) -> bytes:
    """Return the operation "copy the next bytes"."""
    assert count <= 0xFFFF
    return _STORED * (_UNIT // 5 - 1) + struct.pack("<B2H", 0, count, count ^ 0xFFFF)


def _repeat(count: int) -> bytes:
    """Return the operation "repeat the last bytes"."""
    for step in range(258, 8, -1):  # shorter steps take more bits, until blocks of five bytes fill the rest
        bits = _match_bits(count, step)
        size = (len(bits) + 3 + 7) // 8 + 4
        if size <= _UNIT and (_UNIT - size) % 5 == 0:
            packed = sum(bit << place for place, bit in enumerate(bits)).to_bytes(size - 4, "little")
            return packed + b"\x00\x00\xff\xff" + _STORED * ((_UNIT - size) // 5)
    raise ValueError(f"{count} bytes cannot be repeated in {_UNIT}.")


def _match_bits(count: int, step: int) -> list[int]:
    """Return the bits of a block with fixed codes that repeats the last `count` bytes, `step` at a time."""
    bits, left = [0, 1, 0], count
    while left:
        length = left if left <= step else min(step, left - 3)
        code = max(place for place, first in enumerate(_LENGTHS) if first <= length)
        bits += _huffman(257 + code)
        bits += _plain(length - _LENGTHS[code], 0 if code < 8 or code == 28 else (code - 4) // 4)
        extra = max(0, (count - 1).bit_length() - 2)
        bits += reversed(_plain(2 * extra + ((count - 1) >> extra), 5))
        bits += _plain((count - 1) & ((1 << extra) - 1), extra)
        left -= length
    return bits + _huffman(256)


def _huffman(symbol: int) -> list[int]:
    """Return the fixed code of the end of a block, or of a length."""
    value, width = (symbol - 256, 7) if symbol < 280 else (0b11000000 + symbol - 280, 8)
    return _plain(value, width)[::-1]


def _plain(value: int, width: int) -> list[int]:
    return [value >> place & 1 for place in range(width)]


def _fixed_point(checksum_with: Callable[[int], int]) -> int:
    """Return the value of 32 bits that is the checksum of the bytes that contain it: CRC-32 is linear over single bits."""
    base = checksum_with(0)
    # Row by row: which bits of the value change a bit of the sum, and in bit 32 what the sum must be.
    columns = [checksum_with(1 << bit) ^ base ^ (1 << bit) for bit in range(32)]
    rows = [sum((columns[bit] >> row & 1) << bit for bit in range(32)) | (base >> row & 1) << 32 for row in range(32)]
    for bit in range(32):
        pivot = next(row for row in range(bit, 32) if rows[row] >> bit & 1)
        rows[bit], rows[pivot] = rows[pivot], rows[bit]
        rows = [row ^ rows[bit] if row >> bit & 1 and at != bit else row for at, row in enumerate(rows)]
    return sum((row >> 32) << bit for bit, row in enumerate(rows))
