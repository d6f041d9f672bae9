"""Find the records of a damaged WARC archive: one whose length is wrong, or whose packing is broken, costs that record.

This is slower than fastwarc, which ends at the first damage, and is used for damaged archives only.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, Final

from pagekeep.bulk.input.files import Input, open_binary
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
_MAX_RESTARTS: Final = 20


@dataclass(frozen=True, slots=True)
class Broken:
    """A record that does not end where it says, or that has no length."""

    url: str | None


class _FalseLength(Exception):
    """A record that was to be skipped is longer than the rest of the file. Never raised out of this module."""


def read_frames(item: Input, max_bytes: int) -> Iterator[bytes | Broken]:
    """Yield every record's bytes, or the beginning of one that is longer than `max_bytes`.

    A long record is skipped by its length. Where the file ends before, the length was false: the file is read again, and
    that record ends at the next one. So no text inside of a long page can pass for a record.
    """
    done, false_lengths = 0, set[int]()
    for _ in range(_MAX_RESTARTS):
        try:
            for number, frame in enumerate(_read_once(item, max_bytes, false_lengths)):
                if number >= done:
                    done = number + 1
                    yield frame
            return
        except _FalseLength:
            false_lengths.add(done)
    raise ParseError(f"The rest of {item.name} cannot be read: too many records have a false length.")


def _read_once(item: Input, max_bytes: int, false_lengths: set[int]) -> Iterator[bytes | Broken]:
    with open_binary(item) as stream:
        window = _Window(_unpack(stream, item.name))
        number = 0
        while window.find_record():
            frame = _read_frame(window, max_bytes, trusted=number not in false_lengths)
            yield frame
            number += 1


def _read_frame(window: _Window, max_bytes: int, *, trusted: bool) -> bytes | Broken:
    """Return the record at the beginning of the window and step behind it, or behind its first line if it is broken."""
    head = window.head()
    length, url = _LENGTH.search(head), _URL.search(head)
    broken = Broken(url[1].decode("utf-8", "replace") if url else None)
    if not head or length is None:
        window.skip(1)
        return broken
    size = len(head) + int(length[1])
    if size > max_bytes:
        frame = window.read(max_bytes)
        if not trusted or len(frame) < max_bytes:
            window.skip(1)
            return broken
        if not window.skip_far(size):
            raise _FalseLength
        return frame
    frame = window.read(size)
    if len(frame) < size or not window.is_record_or_end(size):
        window.skip(1)
        return broken
    window.skip(size)
    return frame


class _Window:
    """The part of an unpacked file that is in memory."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._data = b""
        self._at = 0

    def _fill(self, size: int) -> None:
        """Read until there are `size` bytes, or the file ends."""
        parts, have = [self._data[self._at :]], len(self._data) - self._at
        if have >= size:
            return
        for chunk in self._chunks:
            parts.append(chunk)
            have += len(chunk)
            if have >= size:
                break
        self._data, self._at = b"".join(parts), 0

    def find_record(self) -> bool:
        """Step to the next line that begins a record; return whether there is one."""
        while True:
            self._fill(_CHUNK_BYTES)
            match = _RECORD.search(self._data, self._at)
            if match:
                self._at = match.start()
                return True
            if len(self._data) - self._at < _CHUNK_BYTES:
                return False
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
            self._data, self._at = next(self._chunks, b""), 0
            if not self._data:
                return False
        self._at += size
        return True


def _unpack(stream: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield the unpacked bytes; what is damaged is left out, and reading goes on at the next packed part."""
    lower = name.lower()
    if lower.endswith(".gz"):
        yield from _unpack_parts(stream, b"\x1f\x8b\x08", lambda: zlib.decompressobj(31))
    elif lower.endswith(".zst"):
        yield from _unpack_parts(stream, b"\x28\xb5\x2f\xfd", zstd.ZstdDecompressor)
    elif lower.endswith(".lz4"):
        raise ParseError(f"The rest of {name} cannot be read: the archive is damaged.")
    else:
        while chunk := stream.read(_CHUNK_BYTES):
            yield chunk


def _unpack_parts(stream: IO[bytes], magic: bytes, new_decoder: Callable[[], Any]) -> Iterator[bytes]:
    packed, decoder, is_new = b"", new_decoder(), True
    while True:
        packed = packed or stream.read(_CHUNK_BYTES)
        if not packed:
            return
        piece, rest = packed[:_PIECE_BYTES], packed[_PIECE_BYTES:]
        try:
            yield from _unpack_piece(decoder, piece)
        except (zlib.error, zstd.ZstdError):
            yield b"\n\n"  # what follows is a new line
            packed = _find_part(stream, packed[is_new:], magic)
            decoder, is_new = new_decoder(), True
            continue
        is_new = False
        if decoder.eof:
            rest = decoder.unused_data + rest
            decoder, is_new = new_decoder(), True
        packed = rest


def _unpack_piece(decoder: Any, piece: bytes) -> Iterator[bytes]:
    while True:
        unpacked = decoder.decompress(piece, _CHUNK_BYTES)
        if unpacked:
            yield unpacked
        piece = getattr(decoder, "unconsumed_tail", b"")
        if decoder.eof or (not piece and (len(unpacked) < _CHUNK_BYTES or getattr(decoder, "needs_input", False))):
            return


def _find_part(stream: IO[bytes], packed: bytes, magic: bytes) -> bytes:
    """Return the packed bytes from the next part on, or nothing at the end."""
    while (at := packed.find(magic)) < 0:
        more = stream.read(_CHUNK_BYTES)
        if not more:
            return b""
        packed = packed[1 - len(magic) :] + more
    return packed[at:]
