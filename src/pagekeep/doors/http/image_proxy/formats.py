"""Detect the format and size of an image from its headers: nothing is decoded, and the server's content type is ignored.

The number of parts examined is limited: an image of 20 MB can consist of ten million parts.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from pagekeep.errors import TooLarge, UnsupportedContent

MAX_PIXELS: Final = 40_000_000
_MAX_PARTS: Final = 20_000
_MAX_BOX_DEPTH: Final = 4
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_FRAMES: Final = frozenset({0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF})
"""JPEG markers whose segment starts with the image's size."""
_BARE: Final = frozenset({0x01, *range(0xD0, 0xD9)})
"""JPEG markers without a length."""
_CONTAINERS: Final = {b"meta": 4, b"iprp": 0, b"ipco": 0}
"""AVIF boxes that contain the size, and the number of bytes before their inner boxes."""


class Size(NamedTuple):
    """Width and height in pixels."""

    width: int
    height: int

    @property
    def pixels(self) -> int:
        return self.width * self.height


def check_image(data: bytes) -> str:
    """Return the media type of an image; raise `UnsupportedContent` for other data, `TooLarge` above the pixel limit."""
    image_format = next((known for known in _FORMATS if known.matches(data)), None)
    if image_format is None:
        raise _not_an_image()
    try:
        sizes = list(image_format.sizes(data))
    except (struct.error, IndexError):  # the file ends before its size
        raise _not_an_image() from None
    if not sizes or min(size.pixels for size in sizes) <= 0:
        raise _not_an_image()
    if max(size.pixels for size in sizes) > MAX_PIXELS:
        raise TooLarge(f"The image has more than {MAX_PIXELS // 1_000_000} megapixels.", suggestions=())
    return image_format.media_type


def _not_an_image() -> UnsupportedContent:
    return UnsupportedContent("This is not an image that browsers can show.", suggestions=())


def _png(data: bytes) -> Iterator[Size]:
    if data[12:16] == b"IHDR":
        yield Size(*struct.unpack_from(">II", data, 16))


def _gif(data: bytes) -> Iterator[Size]:
    """Yield the sizes of the canvas and of the first frame, which may be larger."""
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    yield Size(width, height)
    at = 13 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
    within = False  # inside an extension, which consists of blocks
    for _ in range(_MAX_PARTS):
        if within:
            within = data[at] != 0
            at += data[at] + 1
        elif data[at] == 0x21:
            within = True
            at += 2
        else:
            break
    if data[at] != 0x2C or within:
        raise _not_an_image()
    left, top, wide, high = struct.unpack_from("<HHHH", data, at + 1)
    yield Size(left + wide, top + high)


def _jpeg(data: bytes) -> Iterator[Size]:
    at = 2
    for _ in range(_MAX_PARTS):
        if data[at] != 0xFF:
            return
        marker = data[at + 1]
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            yield Size(width, height)
            return
        at += 1 if marker == 0xFF else 2
        if marker != 0xFF and marker not in _BARE:
            at += struct.unpack_from(">H", data, at)[0]


def _webp(data: bytes) -> Iterator[Size]:
    kind = data[12:16]
    if kind == b"VP8X":
        yield Size(_uint24(data, 24) + 1, _uint24(data, 27) + 1)
    elif kind == b"VP8L" and data[20] == 0x2F:
        (bits,) = struct.unpack_from("<I", data, 21)
        yield Size((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    elif kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, 26)
        yield Size(width & 0x3FFF, height & 0x3FFF)


def _uint24(data: bytes, at: int) -> int:
    low, high = struct.unpack_from("<HB", data, at)
    return int(low) | int(high) << 16


def _bmp(data: bytes, at: int = 14, *, halved: bool = False) -> Iterator[Size]:
    """Yield the size in the header; in an icon the height includes the mask."""
    (length,) = struct.unpack_from("<I", data, at)
    if length == 12:
        yield Size(*struct.unpack_from("<HH", data, at + 4))
    elif 40 <= length <= 124:
        width, height = struct.unpack_from("<ii", data, at + 4)
        yield Size(abs(width), abs(height) // (2 if halved else 1))


def _ico(data: bytes) -> Iterator[Size]:
    """Yield the size of every image in the icon: a PNG, or a BMP without its file header."""
    (count,) = struct.unpack_from("<H", data, 4)
    for number in range(min(count, _MAX_PARTS)):
        (at,) = struct.unpack_from("<I", data, 6 + 16 * number + 12)
        within = _png(data[at : at + 32]) if data.startswith(_PNG, at) else _bmp(data, at, halved=True)
        yield next(within, Size(0, 0))


def _avif(data: bytes) -> Iterator[Size]:
    """Yield every size in the file; one of them is the image's."""
    parts = _MAX_PARTS
    waiting = [(0, len(data), 0)]
    while waiting:
        at, end, depth = waiting.pop()
        while at + 8 <= end and parts:
            parts -= 1
            length, kind = struct.unpack_from(">I4s", data, at)
            head = 16 if length == 1 else 8
            length = struct.unpack_from(">Q", data, at + 8)[0] if length == 1 else length or end - at
            if length < head:
                return
            if kind == b"ispe":
                yield Size(*struct.unpack_from(">II", data, at + head + 4))
            elif kind in _CONTAINERS and depth < _MAX_BOX_DEPTH:
                waiting.append((at + head + _CONTAINERS[kind], min(end, at + length), depth + 1))
            at += length


def _is_avif(data: bytes) -> bool:
    """Return whether the first brands of the file include AVIF."""
    length = min(int.from_bytes(data[:4], "big"), 128)
    brands = {data[at : at + 4] for at in (8, *range(16, length, 4))}
    return data[4:8] == b"ftyp" and not brands.isdisjoint({b"avif", b"avis"})


class _Format(NamedTuple):
    matches: Callable[[bytes], bool]
    media_type: str
    sizes: Callable[[bytes], Iterator[Size]]


_FORMATS: Final = (
    _Format(lambda data: data.startswith(_PNG), "image/png", _png),
    _Format(lambda data: data.startswith(b"\xff\xd8\xff"), "image/jpeg", _jpeg),
    _Format(lambda data: data.startswith((b"GIF87a", b"GIF89a")), "image/gif", _gif),
    _Format(lambda data: data.startswith(b"RIFF") and data[8:12] == b"WEBP", "image/webp", _webp),
    _Format(_is_avif, "image/avif", _avif),
    _Format(lambda data: data.startswith(b"\x00\x00\x01\x00"), "image/x-icon", _ico),
    _Format(lambda data: data.startswith(b"BM"), "image/bmp", _bmp),
)
"""SVG is missing on purpose: it can contain scripts."""
