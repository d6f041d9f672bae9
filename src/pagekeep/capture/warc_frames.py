"""Find the records of a WARC file, damaged or not: one with a wrong length or broken packing costs that record alone.

Lengths are checked, not trusted: a record must end where the next one begins. Where it does not, reading goes on at the next
packed part or at the next line that begins a record, and what lies between is reported with its place.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, Final

from pagekeep.errors import ParseError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_RECORD: Final = re.compile(rb"(?:\A|(?<=[\n\x00]))WARC/[0-9]\.")
"""At the beginning of a line, or after a block of zeros, which a crash can leave in a file."""
_LENGTH: Final = re.compile(rb"^content-length:[ \t]*([0-9]{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_URL: Final = re.compile(rb"^warc-target-uri:[ \t]*<?([^\r\n>]{1,8000})", re.IGNORECASE | re.MULTILINE)
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_MAX_HEAD_BYTES: Final = 65_536
_MAX_GAP_BYTES: Final = 64
"""Line ends between two records; there should be four bytes."""
_CHUNK_BYTES: Final = 1_048_576
_PIECE_BYTES: Final = 4_096
"""Packed bytes that are unpacked at a time: damage is located as exactly."""
_KEPT_BYTES: Final = 262_144
"""Packed bytes before damage that are looked through again: one block of deflate without compression has up to 65,535."""
_MAX_REREAD_BYTES: Final = 67_108_864
"""What is unpacked again in one file: each of many damaged parts could hide the others, in quadratic time."""
_MAX_RESTARTS: Final = 20
_BLANK: Final = b"\r\n \t\0"
"""Bytes between two records that are not worth a report."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The bytes of one record, or the beginning of one that is longer than the limit."""

    data: bytes
    offset: int
    """Where it begins in the unpacked archive."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A part of the file that is not a whole record."""

    reason: str
    """One sentence, with the place in the file."""
    url: str | None = None
    is_record: bool = False
    """Whether a record begins there, so that it has a number among the records."""


class _FalseLength(Exception):
    """A record that was to be skipped is longer than the rest of the file. Never raised out of this module."""


def read_frames(open_file: Callable[[], IO[bytes]], name: str, max_bytes: int) -> Iterator[Frame | Gap]:
    """Yield every record and every gap of a file, which may be packed with gzip or zstd.

    A long record is skipped by its length. Where the file ends before, the length was false: the file is read again, and
    that record ends at the next one. So no text inside of a long page can pass for a record.
    """
    done, false_lengths = 0, set[int]()
    for _ in range(_MAX_RESTARTS):
        try:
            for number, found in enumerate(_read_once(open_file, name, max_bytes, false_lengths)):
                if number >= done:
                    done = number + 1
                    yield found
            return
        except _FalseLength:
            false_lengths.add(done)
    raise ParseError(f"The rest of {name} cannot be read: too many records have a false length.")


def _read_once(
    open_file: Callable[[], IO[bytes]], name: str, max_bytes: int, false_lengths: set[int]
) -> Iterator[Frame | Gap]:
    with open_file() as stream:
        window = _Window(_unpack(stream, name))
        number = 0
        broken: Gap | None = None
        while True:
            begin, junk = window.offset, window.find_record()
            if broken is not None:
                yield Gap(f"{broken.reason} It was left out, up to byte {window.offset:,}.", broken.url, True)
            elif junk:
                yield Gap(f"Bytes {begin:,} to {window.offset:,} of the archive are not a record.")
            for place in window.take_damage():
                yield Gap(f"The compressed data from byte {place:,} of the file on are damaged.")
                number += 1
            if window.is_at_end:
                return
            number += broken is not None or junk
            found = _read_frame(window, max_bytes, trusted=number not in false_lengths)
            broken = found if isinstance(found, Gap) else None
            if isinstance(found, Frame):
                yield found
                number += 1


def _read_frame(window: _Window, max_bytes: int, *, trusted: bool) -> Frame | Gap:
    """Return the record at the beginning of the window and step behind it, or behind its first byte if it is broken."""
    head, begin = window.head(), window.offset
    length, url = _LENGTH.search(head), _URL.search(head)
    broken = Gap(
        f"The record at byte {begin:,} of the archive is truncated, or its length is wrong.",
        url[1].decode("utf-8", "replace") if url else None,
    )
    if not head or length is None:
        window.skip(1)
        return broken
    size = len(head) + int(length[1])
    if size > max_bytes:
        data = window.read(max_bytes)
        if not trusted or len(data) < max_bytes:
            window.skip(1)
            return broken
        if not window.skip_far(size):
            raise _FalseLength
        return Frame(data, begin)
    data = window.read(size)
    if len(data) < size or not window.is_record_or_end(size):
        window.skip(1)
        return broken
    window.skip(size)
    return Frame(data, begin)


class _Window:
    """The part of an unpacked file that is in memory."""

    def __init__(self, chunks: Iterator[bytes | int]) -> None:
        self._chunks = chunks
        self._data = b""
        self._at = 0
        self._before = 0
        """Bytes of the unpacked file before `_data`."""
        self._damage: list[int] = []
        """Places in the file where packed data could not be unpacked."""
        self.is_at_end = False

    @property
    def offset(self) -> int:
        """The place in the unpacked file."""
        return self._before + self._at

    def take_damage(self) -> list[int]:
        """Return the places where unpacking failed since the last call."""
        found, self._damage = self._damage, []
        return found

    def _next_chunk(self) -> bytes:
        """Return the next part of the unpacked file; nothing at its end."""
        for chunk in self._chunks:
            if isinstance(chunk, bytes):
                return chunk
            self._damage.append(chunk)
            return b"\n\n"  # what follows is a new line
        return b""

    def _fill(self, size: int) -> None:
        """Read until there are `size` bytes, or the file ends."""
        have = len(self._data) - self._at
        if have >= size:
            return
        parts = [self._data[self._at :]]
        while have < size and (chunk := self._next_chunk()):
            parts.append(chunk)
            have += len(chunk)
        self._before += self._at
        self._data, self._at = b"".join(parts), 0

    def find_record(self) -> bool:
        """Step to the next line that begins a record, or to the end; return whether there was something in between."""
        junk = False
        while True:
            self._fill(_CHUNK_BYTES)
            match = _RECORD.search(self._data, self._at)
            end = match.start() if match else len(self._data)
            junk = junk or bool(self._data[self._at : end].strip(_BLANK))
            if match:
                self._at = end
                return junk
            if len(self._data) - self._at < _CHUNK_BYTES:
                self._at, self.is_at_end = end, True
                return junk
            self._at = len(self._data) - 16  # the line may begin in the next chunk

    def head(self) -> bytes:
        """Return the record's headers with the blank line behind them; nothing when they do not end."""
        self._fill(_MAX_HEAD_BYTES)
        end = _HEAD_END.search(self._data, self._at, self._at + _MAX_HEAD_BYTES)
        return self._data[self._at : end.end()] if end else b""

    def read(self, size: int) -> bytes:
        """Return the next bytes without stepping over them."""
        self._fill(size)
        return self._data[self._at : self._at + size]

    def is_record_or_end(self, offset: int) -> bool:
        """Return whether there are the two line ends that follow each record, another record, or the end of the file."""
        self._fill(offset + _MAX_GAP_BYTES)
        after = self._data[self._at + offset : self._at + offset + _MAX_GAP_BYTES]
        rest = after.lstrip(b"\r\n")
        return not rest or after.startswith((b"\r\n\r\n", b"\n\n")) or _RECORD.match(rest) is not None

    def skip(self, size: int) -> None:
        self._at += size

    def skip_far(self, size: int) -> bool:
        """Step over any number of bytes; return whether the file has as many."""
        while size > len(self._data) - self._at:
            size -= len(self._data) - self._at
            self._before += len(self._data)
            self._data, self._at = self._next_chunk(), 0
            if not self._data:
                return False
        self._at += size
        return True


def _unpack(stream: IO[bytes], name: str) -> Iterator[bytes | int]:
    """Yield the unpacked bytes. Where data are damaged, their place is yielded, and reading goes on at the next packed part."""
    begin = stream.read(_CHUNK_BYTES)
    for suffix, (magic, new_decoder) in _PACKINGS.items():
        # The name says it too, where the beginning is damaged.
        if begin.startswith(magic) or name.lower().endswith(suffix):
            yield from _unpack_parts(stream, begin, magic, new_decoder)
            return
    if begin.startswith(_LZ4):
        raise ParseError(f"{name} cannot be read: the archive is packed with LZ4.")
    while begin:
        yield begin
        begin = stream.read(_CHUNK_BYTES)


_PACKINGS: Final[dict[str, tuple[bytes, Callable[[], Any]]]] = {
    ".gz": (b"\x1f\x8b\x08", lambda: zlib.decompressobj(31)),
    ".zst": (b"\x28\xb5\x2f\xfd", zstd.ZstdDecompressor),
}
"""The end of a file's name to how a packed part begins, and what unpacks it."""
_LZ4: Final = b"\x04\x22\x4d\x18"


def _unpack_parts(
    stream: IO[bytes], packed: bytes, magic: bytes, new_decoder: Callable[[], Any]
) -> Iterator[bytes | int]:
    at, read = 0, len(packed)
    decoder, is_new, kept, left = new_decoder(), True, bytearray(), _MAX_REREAD_BYTES
    is_reported = False
    while True:
        if at == len(packed):
            packed, at = stream.read(_CHUNK_BYTES), 0
            read += len(packed)
        piece = packed[at : at + _PIECE_BYTES]
        try:
            for unpacked in _unpack_piece(decoder, piece) if piece else ():
                is_reported = False
                yield unpacked
            is_damaged = not piece and magic in kept  # the file ends inside of this part, where another one may begin
        except (zlib.error, zstd.ZstdError):
            is_damaged = True
        if is_damaged:
            if not is_reported:  # damage without anything in between is one
                yield read - len(packed) + at
            is_reported = True
            at += is_new
            # Damaged data can pass for sound data for a while, and hide parts that follow: look behind its beginning.
            if kept and left > 0:
                packed, at, left = bytes(kept) + packed[at:], 0, left - len(kept) - _PIECE_BYTES
            while (found := packed.find(magic, at)) < 0 and (more := stream.read(_CHUNK_BYTES)):
                packed, at, read = packed[at:][1 - len(magic) :] + more, 0, read + len(more)
            at = found if found >= 0 else len(packed)
            decoder, is_new = new_decoder(), True
            kept.clear()
            continue
        if not piece:
            return
        at += len(piece)
        kept += piece[is_new:]
        del kept[:-_KEPT_BYTES]
        is_new = False
        if decoder.eof:
            at -= len(decoder.unused_data)
            decoder, is_new = new_decoder(), True
            kept.clear()


def _unpack_piece(decoder: Any, piece: bytes) -> Iterator[bytes]:
    while True:
        unpacked = decoder.decompress(piece, _CHUNK_BYTES)
        if unpacked:
            yield unpacked
        piece = getattr(decoder, "unconsumed_tail", b"")
        if decoder.eof or (not piece and (len(unpacked) < _CHUNK_BYTES or getattr(decoder, "needs_input", False))):
            return
