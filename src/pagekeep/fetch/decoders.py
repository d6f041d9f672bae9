"""Content decoding that never makes more than it is asked for: gzip, deflate, brotli, zstd, in layers.

Every decoder hands out pieces of bounded size and is asked for the next only when the former was counted, so a bomb costs
no more memory than the limit. A counter behind a library's own decoding comes too late: 3 KB of brotli can be one chunk
of 2 GiB.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol

from pagekeep.errors import FetchNetworkError, TooLarge, UnsupportedContent

ACCEPTED: Final = "gzip, br, zstd, deflate"
PIECE: Final = 1 << 17
MAX_LAYERS: Final = 4
"""Nobody wraps a page more often than twice, but to wear out whoever unwraps it."""
MAX_ZSTD_WINDOW: Final = 23
"""8 MB, as RFC 9659 asks of content codings: the frame, not the page, decides what the decoder sets aside."""

_MAX_WBITS: Final = 15
_GZIP: Final = 16 + _MAX_WBITS


class Damaged(Exception):
    """The bytes are not what the coding's name says. Never leaves this module."""


class Decoder(Protocol):
    """One layer."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What the bytes decode to, in pieces of about `PIECE` at most; all must be taken before the next call."""
        ...

    def complete(self) -> bool:
        """Whether the data may end here."""
        ...


class Gzip:
    """gzip, of any number of members."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(_GZIP)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode, member by member; what follows the last one is ignored, as browsers do."""
        while data:
            if self._inner.eof:
                if not data.startswith(b"\x1f"):
                    return
                self._inner = zlib.decompressobj(_GZIP)
            yield from _inflated(self._inner, data)
            data = self._inner.unused_data

    def complete(self) -> bool:
        """Whether the last member came to its end."""
        return self._inner.eof


class Deflate:
    """deflate, with its zlib wrapping or, as many servers send it under this name, without."""

    def __init__(self) -> None:
        self._inner: zlib._Decompress | None = None
        self._begun = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode; the two bytes of zlib's header tell which of both it is."""
        if self._inner is None:
            data = self._begun = self._begun + data
            if len(data) < 2:
                return
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._inner = zlib.decompressobj(_MAX_WBITS if wrapped else -_MAX_WBITS)
        if not self._inner.eof:
            yield from _inflated(self._inner, data)

    def complete(self) -> bool:
        """Whether the stream came to its end."""
        return self._inner is not None and self._inner.eof


def _inflated(inner: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    full = False
    # A full piece may leave output behind even when all input is taken.
    while (data or full) and not inner.eof:
        try:
            piece = inner.decompress(data, PIECE)
        except zlib.error:
            raise Damaged from None
        data, full = inner.unconsumed_tail, len(piece) == PIECE
        if piece:
            yield piece


class Brotli:
    """One brotli stream."""

    def __init__(self) -> None:
        import brotli  # type: ignore[import-untyped]

        self._error = brotli.error
        self._inner: Any = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode. Being ready for more input does not mean that all output was given: only an empty piece does."""
        try:
            piece = self._inner.process(data, output_buffer_limit=PIECE)
            while piece:
                yield piece
                piece = b"" if self._inner.is_finished() else self._inner.process(b"", output_buffer_limit=PIECE)
        except self._error:
            raise Damaged from None

    def complete(self) -> bool:
        """Whether the stream came to its end."""
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
        """Decode, frame by frame."""
        try:
            while data or not (self._inner.needs_input or self._inner.eof):
                if self._inner.eof:
                    self._inner = self._make()
                piece = self._inner.decompress(data, PIECE)
                data = self._inner.unused_data if self._inner.eof else b""
                if piece:
                    yield piece
        except self._error:
            raise Damaged from None

    def complete(self) -> bool:
        """Whether the last frame came to its end."""
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
    """A response's content while it arrives: decoded piece by piece, cut off with `TooLarge` above `limit` bytes."""

    def __init__(self, content_encoding: str, limit: int) -> None:
        self._layers = _layers(content_encoding)
        self._limit = limit
        # Counted at every border: the outermost layer's input first, the content last. Layers within may be a little
        # larger than what they hold, and must not grow without end while the innermost gives nothing.
        self._counts = [0] * (len(self._layers) + 1)
        # Not a list: a page in pieces of one byte would cost fifty times its size.
        self._content = bytearray()

    def feed(self, data: bytes) -> None:
        """Take bytes as they came from the server."""
        try:
            self._count(0, data)
            self._pass_on(0, (data,))
        except Damaged:
            raise FetchNetworkError("The server sent compressed data that is damaged.") from None

    def _pass_on(self, level: int, pieces: Iterable[bytes]) -> None:
        if level == len(self._layers):
            for piece in pieces:
                self._content += piece
            return
        for piece in pieces:
            self._pass_on(level + 1, self._counted(level + 1, self._layers[level].feed(piece)))

    def _counted(self, border: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self._count(border, piece)
            yield piece

    def _count(self, border: int, piece: bytes) -> None:
        self._counts[border] += len(piece)
        slack = 0 if border == len(self._layers) else self._limit // 8 + 1024
        if self._counts[border] > self._limit + slack:
            raise TooLarge(f"The page is larger than the limit of {self._limit / 1e6:g} MB.")

    def content(self) -> bytes:
        """Everything, once the server is done; data that breaks off is an error and never half a page."""
        if self._counts[0] and not all(layer.complete() for layer in self._layers):
            raise FetchNetworkError("The server's answer broke off before its end.")
        return bytes(self._content)


def _layers(content_encoding: str) -> list[Decoder]:
    """Decoders in the order they are applied, which is the reverse of how the server names them."""
    names = [name.strip() for name in content_encoding.lower().split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if len(names) > MAX_LAYERS or not all(name in _DECODERS for name in names):
        raise UnsupportedContent("The server sent the page in a coding that Pagekeep does not know.")
    return [_DECODERS[name]() for name in reversed(names)]
