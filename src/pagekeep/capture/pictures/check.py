"""Check a picture by decoding it, and make smaller copies of it. Runs in a worker: decoders of others' files may fail."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

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
        from pagekeep.capture.pictures.svg import clean_svg, looks_like_svg

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
