"""Check pictures by decoding them, make smaller or harmless copies of them, and peel them out of single files.

All of it runs in workers: decoders of others' files may fail, and SingleFile writes files of up to 100 MB."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import re
import struct
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

from pagekeep.errors import TooLarge
from pagekeep.model import LeftOut
from pagekeep.values import dataclass
from pagekeep.workers import Limits

if TYPE_CHECKING:
    from PIL.Image import Image


T = TypeVar("T")
PICTURE: Final = Limits(
    cpu_seconds=10.0, wall_seconds=60.0, megabytes=1_500, input_bytes=25_000_000, result_bytes=60_000_000
)
"""For one picture: decoding 40 megapixels takes 160 MB and, as AVIF, 3 s."""
MAX_PIXELS: Final = 40_000_000
"""More is not decoded."""
MAX_SIDE: Final = 2_560
"""Pixels of the longer side of a picture that had to be downscaled: sharp on a screen of any usual size."""
THUMBNAIL_SIZE: Final = (480, 360)
"""Pixels of the picture in a list, where it is shown at most 160 wide, on screens with three pixels per point."""
_QUALITY: Final = 85
_THUMBNAIL_QUALITY: Final = 75
_FORMATS: Final = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "AVIF": "image/avif",
    "ICO": "image/x-icon",
    "BMP": "image/bmp",
}
"""Formats that browsers show, with their media types. No other decoder is tried."""
_DECODER_ERRORS: Final = (
    *(OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, OverflowError, AttributeError),
    *(ZeroDivisionError, RuntimeError, struct.error, zlib.error),
)
"""What Pillow raises for damaged files."""
_MIN_SIDE: Final = 64
SVG_TYPE: Final = "image/svg+xml"


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a picture that was made here."""

    media_type: str
    width: int
    height: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Checked:
    """A picture that can be shown."""

    media_type: str
    width: int | None
    """`None` for a drawing without a size."""
    height: int | None
    replacement: bytes | None = None
    """What to keep instead of the original: a downscaled copy, or a drawing without its scripts."""
    downscaled: bool = False
    thumbnail: Copy | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that cannot be kept as a picture."""

    reason: LeftOut


@dataclass(frozen=True, slots=True)
class CheckPicture:
    """The task."""

    data: bytes
    max_bytes: int
    """A larger picture is downscaled."""
    thumbnail: bool = False

    def run(self) -> Checked | Refused:
        """Decode the picture, and return what to keep."""

        if looks_like_svg(self.data):
            if len(self.data) > self.max_bytes:
                return Refused("too_large")
            drawing = clean_svg(self.data)
            return Checked(SVG_TYPE, drawing.width, drawing.height, drawing.body) if drawing else Refused("damaged")
        return decode_picture(self.data, self._check)

    def _check(self, picture: Image) -> Checked:
        media_type = _FORMATS[str(picture.format)]
        width, height = picture.size
        picture.load()
        thumbnail = scale_picture(picture, THUMBNAIL_SIZE, _THUMBNAIL_QUALITY) if self.thumbnail else None
        if len(self.data) <= self.max_bytes:
            return Checked(media_type, width, height, thumbnail=thumbnail)
        side = MAX_SIDE
        while True:  # ends, as a picture of a few pixels has few bytes
            small = scale_picture(picture, (side, side), _QUALITY)
            if len(small.body) <= self.max_bytes or side < _MIN_SIDE:
                return Checked(small.media_type, small.width, small.height, small.body, True, thumbnail)
            side = side * 2 // 3


@dataclass(frozen=True, slots=True)
class ConvertPicture:
    """The task of making a copy in a format that every program knows: JPEG, or WebP if it is transparent."""

    data: bytes

    def run(self) -> Copy | Refused:
        """Decode the picture, and return the copy."""
        return decode_picture(self.data, lambda picture: scale_picture(picture, (MAX_SIDE, MAX_SIDE), _QUALITY))


def decode_picture(data: bytes, work: Callable[[Image], T | Refused]) -> T | Refused:
    """Open a picture and return the result of the work with it, which may decode it; or why it cannot be decoded."""
    from PIL import Image, ImageFile, UnidentifiedImageError

    ImageFile.LOAD_TRUNCATED_IMAGES = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the decoders, about odd metadata
            with Image.open(io.BytesIO(data), formats=tuple(_FORMATS)) as picture:
                if picture.width * picture.height > MAX_PIXELS:
                    return Refused("too_large")
                return work(picture)
    except UnidentifiedImageError:
        return Refused("not_a_picture")
    except Image.DecompressionBombError:
        return Refused("too_large")
    except _DECODER_ERRORS:
        return Refused("damaged")


def scale_picture(picture: Image, size: tuple[int, int], quality: int) -> Copy:
    """Return the picture, its first frame if it moves, no larger than the size: JPEG, or WebP if it is transparent."""
    from PIL import ImageOps

    small = ImageOps.exif_transpose(picture)
    transparent = small.mode in ("RGBA", "LA", "PA") or "transparency" in small.info
    small = small.convert("RGBA" if transparent else "RGB")
    small.thumbnail(size)
    out = io.BytesIO()
    if transparent:
        small.save(out, "WEBP", quality=quality)
    else:
        small.save(out, "JPEG", quality=quality, optimize=True, progressive=True)
    return Copy("image/webp" if transparent else "image/jpeg", small.width, small.height, out.getvalue())


_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "http://www.w3.org/1999/xlink"
_START: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*>\s*)*<svg[\s>/]", re.S
)
_HEAD_BYTES: Final = 4_000
"""Where the root element of a drawing begins."""
_REMOVED: Final = frozenset(
    {"script", "foreignobject", "iframe", "object", "embed", "audio", "video", "handler", "listener", "set"}
)
"""Elements that run, load or change something. `set` and `animate*` can change an address to a script."""
_STYLE_ADDRESS: Final = re.compile(
    r"@import[^;]*;?|url\(\s*(?!['\"]?(?:#|data:image/(?:png|jpeg|gif|webp)))[^)]*\)", re.I
)
_INNER: Final = re.compile(r"\s*(?:#|data:image/(?:png|jpeg|gif|webp)[;,])", re.I)
"""Addresses within the drawing."""
_LENGTH: Final = re.compile(r"\s*(\d{1,6}(?:\.\d+)?)(?:px)?\s*")
_BOX: Final = re.compile(r"\s*[-\d.e]+[\s,]+[-\d.e]+[\s,]+(\d{1,6}(?:\.\d+)?)[\s,]+(\d{1,6}(?:\.\d+)?)\s*", re.I)
_MAX_ELEMENTS: Final = 200_000


@dataclass(frozen=True, slots=True)
class Drawing:
    """A harmless drawing."""

    body: bytes
    width: int | None
    height: int | None


def looks_like_svg(data: bytes) -> bool:
    """Return whether the data begins as an SVG drawing does."""
    return _START.match(data[:_HEAD_BYTES]) is not None or (
        b"<svg" in data[:_HEAD_BYTES] and data.lstrip()[:5] == b"<?xml"
    )


def clean_svg(data: bytes) -> Drawing | None:
    """Return the drawing without anything that runs or loads; `None` when it is not well-formed, or endless."""
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError):
        return None
    if root.tag != f"{{{_SVG}}}svg" or sum(1 for _ in root.iter()) > _MAX_ELEMENTS:
        return None
    _clean(root)
    width, height = (_length(root.get(name)) for name in ("width", "height"))
    if (width is None or height is None) and (box := _BOX.fullmatch(root.get("viewBox") or "")):
        width, height = round(float(box[1])), round(float(box[2]))
    return Drawing(ElementTree.tostring(root, encoding="utf-8"), width, height)


def _length(text: str | None) -> int | None:
    match = _LENGTH.fullmatch(text or "")
    return round(float(match[1])) if match else None


def _clean(root: ElementTree.Element) -> None:
    waiting = [root]
    while waiting:
        element = waiting.pop()
        for child in list(element):
            if _is_harmful(child):
                element.remove(child)
            else:
                waiting.append(child)
        _clean_attributes(element)
        if _local(element.tag) == "style" and element.text:
            element.text = _STYLE_ADDRESS.sub("", element.text)


def _is_harmful(element: ElementTree.Element) -> bool:
    """Return whether an element must go: elements of other vocabularies go too, such as HTML."""
    name = _local(element.tag)
    return not element.tag.startswith(f"{{{_SVG}}}") or name in _REMOVED or name.startswith("animate")


def _clean_attributes(element: ElementTree.Element) -> None:
    for name, value in list(element.attrib.items()):
        local = _local(name)
        is_address = local in ("href", "src") and not _INNER.match(value)
        if local.startswith("on") or is_address or "javascript:" in value.casefold():
            del element.attrib[name]
        elif "(" in value or "@" in value:
            element.attrib[name] = _STYLE_ADDRESS.sub("none", value)


def _local(name: str) -> str:
    return name.rpartition("}")[2].casefold()


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
