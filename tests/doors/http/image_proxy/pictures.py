"""Small pictures of every kind, and larger ones that are small only in bytes."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO

from PIL import Image

FORMATS = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "AVIF": "image/avif",
    "ICO": "image/x-icon",
    "BMP": "image/bmp",
}


def picture(form: str, size: tuple[int, int] = (48, 32), **how: object) -> bytes:
    """A real picture in one colour."""
    out = BytesIO()
    Image.new("RGB", size, (10, 120, 90)).save(out, form, **how)
    return out.getvalue()


def claims(form: str, width: int, height: int) -> bytes:
    """A picture that says it is so large, by changing the bytes where it says so."""
    data = bytearray(picture(form, (20, 30)))
    if form == "PNG":
        data[16:24] = struct.pack(">II", width, height)
        data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    elif form == "JPEG":
        at = next(at for at in range(len(data)) if data[at] == 0xFF and data[at + 1] in (0xC0, 0xC2))
        data[at + 5 : at + 9] = struct.pack(">HH", height, width)
    elif form == "GIF":
        data[6:10] = struct.pack("<HH", width, height)
    elif form == "BMP":
        data[18:26] = struct.pack("<ii", width, height)
    elif form == "WEBP":
        assert data[12:16] == b"VP8 "
        data[26:30] = struct.pack("<HH", width, height)
    elif form == "AVIF":
        at = data.index(b"ispe") + 8
        data[at : at + 8] = struct.pack(">II", width, height)
    elif form == "ICO":
        at = data.index(b"IHDR") + 4
        data[at : at + 8] = struct.pack(">II", width, height)
    return bytes(data)
