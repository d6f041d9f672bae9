"""Decompress bodies (gzip, deflate, brotli, zstd, also nested) without ever using more memory than the limit.

Every decoder returns pieces of limited size, and each piece is counted before the next one is decoded, so a zip bomb costs
no more memory than the limit. Counting the output of a library's own decoding is too late: 3 KB of brotli can be one chunk
of 2 GiB.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol

from pagekeep.errors import FetchNetworkError, TooLarge, UnsupportedContent
from pagekeep.text import printable

ACCEPT_ENCODING: Final = "gzip, br, zstd, deflate"
MAX_PIECE_BYTES: Final = 1 << 17
MAX_LAYERS: Final = 4
"""Real pages have two at most; more are an attack."""
MAX_ZSTD_WINDOW: Final = 23
"""8 MB, the limit of RFC 9659: the frame, not the page, decides how much memory the decoder allocates."""

_MAX_WBITS: Final = 15
_GZIP: Final = 16 + _MAX_WBITS


class DecodeError(Exception):
    """The compressed data is damaged. Never leaves this module."""


class Decoder(Protocol):
    """A decoder for one encoding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the decoded bytes in pieces of about `MAX_PIECE_BYTES`; read all of them before the next call."""
        ...

    def complete(self) -> bool:
        """Return whether the data may end here."""
        ...


class Gzip:
    """gzip, with any number of members."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(_GZIP)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode member by member; bytes after the last one are ignored, as browsers do."""
        while data:
            if self._inner.eof:
                if not data.startswith(b"\x1f"):
                    return
                self._inner = zlib.decompressobj(_GZIP)
            yield from _inflate(self._inner, data)
            data = self._inner.unused_data

    def complete(self) -> bool:
        """Return whether the last member is complete."""
        return self._inner.eof


class Deflate:
    """deflate, with the zlib header or, as many servers send it, without."""

    def __init__(self) -> None:
        self._inner: zlib._Decompress | None = None
        self._start = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode; the first two bytes show whether there is a zlib header."""
        if self._inner is None:
            data = self._start = self._start + data
            if len(data) < 2:
                return
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._inner = zlib.decompressobj(_MAX_WBITS if wrapped else -_MAX_WBITS)
        if not self._inner.eof:
            yield from _inflate(self._inner, data)

    def complete(self) -> bool:
        """Return whether the stream is complete."""
        return self._inner is not None and self._inner.eof


def _inflate(inner: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    full = False
    # After a full piece there may be more output, even when all input is used.
    while (data or full) and not inner.eof:
        try:
            piece = inner.decompress(data, MAX_PIECE_BYTES)
        except zlib.error:
            raise DecodeError from None
        data, full = inner.unconsumed_tail, len(piece) == MAX_PIECE_BYTES
        if piece:
            yield piece


class Brotli:
    """One brotli stream."""

    def __init__(self) -> None:
        import brotli  # type: ignore[import-untyped]

        self._error = brotli.error
        self._inner: Any = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode; only an empty piece means that all output was returned."""
        try:
            piece = self._inner.process(data, output_buffer_limit=MAX_PIECE_BYTES)
            while piece:
                yield piece
                piece = (
                    b"" if self._inner.is_finished() else self._inner.process(b"", output_buffer_limit=MAX_PIECE_BYTES)
                )
        except self._error:
            raise DecodeError from None

    def complete(self) -> bool:
        """Return whether the stream is complete."""
        return bool(self._inner.is_finished())


class Zstd:
    """Any number of zstd frames."""

    def __init__(self) -> None:
        zstd = _zstd()
        self._error = zstd.ZstdError
        options = {zstd.DecompressionParameter.window_log_max: MAX_ZSTD_WINDOW}
        self._make: Callable[[], Any] = lambda: zstd.ZstdDecompressor(options=options)
        self._inner = self._make()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode frame by frame."""
        try:
            while data or not (self._inner.needs_input or self._inner.eof):
                if self._inner.eof:
                    self._inner = self._make()
                piece = self._inner.decompress(data, MAX_PIECE_BYTES)
                data = self._inner.unused_data if self._inner.eof else b""
                if piece:
                    yield piece
        except self._error:
            raise DecodeError from None

    def complete(self) -> bool:
        """Return whether the last frame is complete."""
        return bool(self._inner.eof)


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


_DECODERS: Final[dict[str, Callable[[], Decoder]]] = {
    "gzip": Gzip,
    "x-gzip": Gzip,
    "deflate": Deflate,
    "br": Brotli,
    "zstd": Zstd,
}


class Body:
    """The body of a response: decoded piece by piece while it arrives, refused with `TooLarge` above `limit` bytes."""

    def __init__(self, content_encoding: str, limit: int) -> None:
        self._layers = _layers(content_encoding)
        self._limit = limit
        # Bytes before each layer, and the content last. Compressed layers may be a little larger than the content, but
        # must not grow without end while the innermost layer returns nothing.
        self._counts = [0] * (len(self._layers) + 1)
        # Not a list: pieces of one byte would take fifty times their size.
        self._content = bytearray()

    def feed(self, data: bytes) -> None:
        """Add bytes from the server."""
        try:
            self._count(0, data)
            self._pass_on(0, (data,))
        except DecodeError:
            raise FetchNetworkError("The server sent damaged compressed data.") from None

    def _pass_on(self, level: int, pieces: Iterable[bytes]) -> None:
        if level == len(self._layers):
            for piece in pieces:
                self._content += piece
            return
        for piece in pieces:
            self._pass_on(level + 1, self._count_all(level + 1, self._layers[level].feed(piece)))

    def _count_all(self, level: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self._count(level, piece)
            yield piece

    def _count(self, level: int, piece: bytes) -> None:
        self._counts[level] += len(piece)
        slack = 0 if level == len(self._layers) else self._limit // 8 + 1024
        if self._counts[level] > self._limit + slack:
            raise TooLarge(f"The page is larger than the limit of {self._limit / 1e6:g} MB.")

    def content(self) -> bytes:
        """Return the whole body at the end; incomplete data is an error, never half a page."""
        if self._counts[0] and not all(layer.complete() for layer in self._layers):
            raise FetchNetworkError("The server closed the connection before the page was complete.")
        return bytes(self._content)


def _layers(content_encoding: str) -> list[Decoder]:
    """Return the decoders in the order of decoding, the reverse of the header."""
    names = [name.strip() for name in content_encoding.lower().split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if len(names) > MAX_LAYERS or not all(name in _DECODERS for name in names):
        raise UnsupportedContent(
            f"The server sent the page in an unknown encoding (`{printable(content_encoding[:60])}`).", suggestions=()
        )
    return [_DECODERS[name]() for name in reversed(names)]
