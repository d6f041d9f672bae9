"""Images of saved pages, fetched by the server so that their sites do not see the user; checked, cached and signed."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import secrets
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from pagekeep.errors import PagekeepError, TooLarge, UnsupportedContent
from pagekeep.private_files import make_folder, private

if TYPE_CHECKING:
    from pagekeep.fetch.client import Client


MAX_IMAGE_BYTES: Final = 20_000_000
_ACCEPT: Final = "image/avif,image/webp,image/png,image/jpeg,image/gif,image/*;q=0.5"
_MAX_FETCHES: Final = 24
"""Images fetched at the same time; each may need 20 MB of memory."""


class Image(NamedTuple):
    """An image and its detected media type."""

    media_type: str
    data: bytes


class ImageCache:
    """Images by key. If the disk is full or missing, nothing is found and nothing is stored, without an error."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._written = max_bytes  # so that the first file triggers a check

    def find(self, key: str) -> bytes | None:
        """Return the data of a key and mark it as used now."""
        path = self._path(key)
        try:
            data = path.read_bytes()
            if time.time() - path.stat().st_mtime > _TOUCH_SECONDS:
                os.utime(path)
        except OSError:
            return None
        return data

    def store(self, key: str, data: bytes) -> None:
        """Store data atomically, unless it is larger than a twentieth of the limit."""
        if len(data) * _CHECKS_PER_SIZE > self._max_bytes:
            return
        with suppress(OSError):
            self._write(self._path(key), data)
            self._make_room(len(data))

    def remove_older(self, seconds: float) -> None:
        """Remove files last used longer ago than this."""
        with suppress(OSError):
            for file in self._files():
                if file.used < time.time() - seconds:
                    with suppress(OSError):
                        os.unlink(file.path)

    def remove(self, key: str) -> None:
        """Remove a key."""
        with suppress(OSError):
            self._path(key).unlink()

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key

    def _write(self, path: Path, data: bytes) -> None:
        if not path.parent.is_dir():
            make_folder(path.parent)
            (self._folder / "CACHEDIR.TAG").write_bytes(_TAG)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        try:
            with open(draft, "wb", opener=private) as file:
                file.write(data)
            draft.replace(path)
        except OSError:
            draft.unlink(missing_ok=True)
            raise

    def _make_room(self, written: int) -> None:
        with self._lock:
            self._written += written
            if self._written * _CHECKS_PER_SIZE < self._max_bytes:
                return
            self._written = 0
        files = sorted(self._files())
        excess = sum(file.size for file in files) - self._max_bytes
        if excess <= 0:
            return
        excess += int(self._max_bytes * (1 - _FILL_AFTER_CLEANUP))
        for file in files:
            if excess <= 0:
                return
            with suppress(OSError):
                os.unlink(file.path)
            excess -= file.size

    def _files(self) -> list[_File]:
        files = []
        for folder in os.scandir(self._folder):
            if not folder.is_dir(follow_symlinks=False):
                continue
            for entry in os.scandir(folder.path):
                with suppress(OSError):
                    stat = entry.stat(follow_symlinks=False)
                    files.append(_File(stat.st_mtime, stat.st_size, entry.path))
        return files


@dataclass(slots=True)
class ImageProxy:
    """Fetches and caches images."""

    client: Client
    cache: ImageCache
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_MAX_FETCHES))

    async def get(self, key: str, url: str) -> Image:
        """Return the image; raise a fetch error, or `UnsupportedContent` or `TooLarge` if it cannot be shown."""
        cached = await asyncio.to_thread(self._find, key)
        if cached is not None:
            return cached
        async with self._slots:
            image = await self._fetch(url)
        await asyncio.to_thread(self.cache.store, key, image.data)
        return image

    def _find(self, key: str) -> Image | None:
        data = self.cache.find(key)
        if data is None:
            return None
        try:
            return Image(check_image(data), data)
        except PagekeepError:  # the file is damaged
            self.cache.remove(key)
            return None

    async def _fetch(self, url: str) -> Image:
        try:
            data = (await self.client.download(url, accept=_ACCEPT, max_bytes=MAX_IMAGE_BYTES)).body
        except TooLarge:
            raise TooLarge(f"The image is larger than {MAX_IMAGE_BYTES // 1_000_000} MB.", suggestions=()) from None
        return Image(check_image(data), data)


IMAGE_PATH: Final = "/api/proxy-image"


def signature(secret: bytes, user_id: str, url: str) -> str:
    """Return the signature of an image URL for one user."""
    message = f"image\n{user_id}\n{url}".encode("utf-8", "surrogatepass")
    return hmac.new(secret, message, hashlib.sha256).hexdigest()


def signed_path(secret: bytes, user_id: str, url: str) -> str:
    """Return the proxy path of an image for one user."""
    clean = url.encode("utf-8", "replace").decode()  # lone surrogates cannot be part of a URL
    return f"{IMAGE_PATH}?url={quote(clean, safe='')}&sig={signature(secret, user_id, clean)}"


def is_signed(secret: bytes, user_id: str, url: str, claimed: str) -> bool:
    """Return whether the server signed this URL for this user."""
    return hmac.compare_digest(signature(secret, user_id, url).encode(), claimed.encode("utf-8", "surrogatepass"))


_CHECKS_PER_SIZE: Final = 20
"""The folder is measured each time a twentieth of the limit was written: other processes write there, too."""
_FILL_AFTER_CLEANUP: Final = 0.9
"""Share of the limit that stays after a clean-up."""
_TOUCH_SECONDS: Final = 3600.0
"""A file's time of use is updated at most this often."""
_TAG: Final = b"Signature: 8a477f597d28d172789f06886806bc55\n# Images of saved pages; may be deleted at any time.\n"
"""Marks the folder for backup programs as one to skip (bford.info/cachedir)."""


class _File(NamedTuple):
    used: float
    size: int
    path: str


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
