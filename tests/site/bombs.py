"""Compressed nothing: small on the wire, huge when unpacked. Made as streams, so that making one costs no memory."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

ZEROS = bytes(1 << 20)
Packer = Callable[[Iterable[bytes]], bytes]


def _deflate(wbits: int) -> Packer:
    def pack(chunks: Iterable[bytes]) -> bytes:
        packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
        return b"".join([*map(packer.compress, chunks), packer.flush()])

    return pack


def _brotli(chunks: Iterable[bytes]) -> bytes:
    import brotli

    packer = brotli.Compressor(quality=5)
    return b"".join([*map(packer.process, chunks), packer.finish()])


def _zstd(chunks: Iterable[bytes]) -> bytes:
    packer = zstd().ZstdCompressor()
    return b"".join([*map(packer.compress, chunks), packer.flush()])


def zstd() -> Any:
    try:
        from compression import zstd as library
    except ImportError:
        from backports import zstd as library
    return library


PACKERS: dict[str, Packer] = {
    "gzip": _deflate(31),
    "deflate": _deflate(15),
    "raw deflate": _deflate(-15),
    "br": _brotli,
    "zstd": _zstd,
}


def name_on_the_wire(coding: str) -> str:
    return "deflate" if coding == "raw deflate" else coding


def packed(data: bytes, *codings: str) -> bytes:
    for coding in codings:
        data = PACKERS[coding]([data])
    return data


@cache
def bomb(codings: tuple[str, ...], megabytes: int) -> bytes:
    """This many megabytes of zeros, packed by each coding in turn."""
    first, *others = codings
    return packed(PACKERS[first](ZEROS for _ in range(megabytes)), *others)
