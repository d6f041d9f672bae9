"""Draw the extension's icons: a page with a ribbon, on a round background."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "extension" / "icons"
SIZES = (16, 32, 48, 128)
FINER = 4
"""Points a side for each pixel: their mean is its colour, so that edges are smooth."""

GROUND, PAPER, INK, RIBBON, NOTHING = (
    (31, 95, 107, 255),
    (251, 250, 247, 255),
    (141, 135, 122, 255),
    (207, 95, 23, 255),
    (0, 0, 0, 0),
)
Colour = tuple[int, int, int, int]


def colour_at(x: float, y: float) -> Colour:
    """Return the colour of a point whose coordinates are from 0 to 1."""
    if (x - 0.5) ** 2 + (y - 0.5) ** 2 > 0.25:
        return NOTHING
    if 0.58 < x < 0.68 and 0.2 < y < 0.5 - abs(x - 0.63):
        return RIBBON
    if not (0.28 < x < 0.72 and 0.2 < y < 0.8):
        return GROUND
    is_line = any(top < y < top + 0.05 for top in (0.36, 0.48, 0.6)) and 0.35 < x < (0.54 if y < 0.55 else 0.65)
    return INK if is_line else PAPER


def pixel(column: int, row: int, size: int) -> bytes:
    """Return the mean colour of a pixel's points, weighted by their opacity."""
    steps = [(index + 0.5) / FINER for index in range(FINER)]
    points = [colour_at((column + x) / size, (row + y) / size) for y in steps for x in steps]
    whole = sum(point[3] for point in points)
    mixed = [round(sum(point[part] * point[3] for point in points) / whole) if whole else 0 for part in range(3)]
    return bytes([*mixed, round(whole / len(points))])


def png(size: int) -> bytes:
    """Return the picture as a PNG file."""
    rows = b"".join(b"\0" + b"".join(pixel(column, row, size) for column in range(size)) for row in range(size))
    header = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, *zip(*parts, strict=True)))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


if __name__ == "__main__":
    for size in SIZES:
        (FOLDER / f"{size}.png").write_bytes(png(size))
