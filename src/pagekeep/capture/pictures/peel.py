"""Peel the pictures out of a page in a single file, before it is parsed: SingleFile writes files of up to 100 MB."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes

from pagekeep.errors import TooLarge
from pagekeep.values import dataclass
from pagekeep.workers import Limits

HOST: Final = "singlefile.invalid"
"""The host in the addresses of pictures that were in the file; nothing is fetched from there."""
PEEL: Final = Limits(
    cpu_seconds=20.0, wall_seconds=60.0, megabytes=1_500, input_bytes=1_000_000, result_bytes=100_000_000
)
MAX_FILE_BYTES: Final = 110_000_000
MAX_PICTURES: Final = 500
MAX_PICTURE_BYTES: Final = 20_000_000
MAX_TOTAL_BYTES: Final = 60_000_000
"""Pictures that are kept; the others leave an empty address."""
_URI: Final = re.compile(
    rb"data:(?P<type>[a-zA-Z0-9.+-]{1,60}/[a-zA-Z0-9.+-]{1,60})?(?:;[a-zA-Z0-9-]{1,40}=[a-zA-Z0-9._-]{1,40}){0,4}"
    rb"(?:;base64,(?P<base64>[A-Za-z0-9+/=%]*+)|,(?P<text>[^\"'()<>\s\\]*+))"
)
"""A data URI up to the first character that it cannot have. The type and its options are short: the time is linear."""
_MIN_CHARS: Final = 200
"""Shorter ones, such as pixels and gradients, stay in the page."""
_ENDINGS: Final = {
    b"image/png": "png",
    b"image/jpeg": "jpg",
    b"image/gif": "gif",
    b"image/webp": "webp",
    b"image/avif": "avif",
    b"image/svg+xml": "svg",
}


@dataclass(frozen=True, slots=True)
class Peeled:
    """A page without its pictures, and the pictures by the addresses that the page now has for them."""

    html: bytes
    pictures: dict[str, bytes]
    dropped: int
    """Pictures beyond the limits, and what is not a picture: fonts, styles, sounds."""


@dataclass(frozen=True, slots=True)
class PeelTask:
    """Peel a file, which the worker reads itself."""

    path: str

    def run(self) -> Peeled:
        """Return the parts; raise `TooLarge` for a file over the limit."""
        data = Path(self.path).read_bytes()
        if len(data) > MAX_FILE_BYTES:
            raise TooLarge(f"The file is larger than {MAX_FILE_BYTES // 1_000_000} MB.")
        return peel(data)


def peel(page: bytes) -> Peeled:
    """Replace the long data URIs of a page: pictures by addresses, all others by nothing."""
    pictures: dict[str, bytes] = {}
    left, dropped = MAX_TOTAL_BYTES, 0

    def replace(match: re.Match[bytes]) -> bytes:
        nonlocal left, dropped
        if match.end() - match.start() < _MIN_CHARS:
            return match[0]
        ending = _ENDINGS.get((match["type"] or b"").lower())
        data = _decode(match) if ending and match.end() - match.start() < 2 * MAX_PICTURE_BYTES else b""
        url = f"https://{HOST}/{hashlib.sha256(data).hexdigest()[:32]}.{ending}"
        if url in pictures:
            return url.encode()
        if not data or len(data) > min(left, MAX_PICTURE_BYTES) or len(pictures) >= MAX_PICTURES:
            dropped += 1
            return b""
        left -= len(data)
        pictures[url] = data
        return url.encode()

    return Peeled(_URI.sub(replace, page), pictures, dropped)


def _decode(match: re.Match[bytes]) -> bytes:
    if match["base64"] is None:
        return unquote_to_bytes(match["text"])
    raw = unquote_to_bytes(match["base64"]) if b"%" in match["base64"] else match["base64"]
    try:
        return base64.b64decode(raw + b"=" * (-len(raw) % 4))
    except binascii.Error:
        return b""
