"""Draw the pictures of the demo pages: flat shapes in a few colours, the same every time."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw


Colour = str
Point = tuple[float, float]
_WIDTH, _HEIGHT = 960, 540
_FINER: Final = 2
"""The picture is drawn at this many times its size and scaled down, so that edges are smooth."""
_PALETTES: Final[dict[str, tuple[Colour, Colour, Colour, Colour, Colour, Colour]]] = {
    "morning": ("#fbe3c4", "#f7c59f", "#8fb9a8", "#5b8e7d", "#fffaf0", "#bc4b51"),
    "dusk": ("#3d405b", "#e07a5f", "#81818f", "#2b2d42", "#f4f1de", "#f2cc8f"),
    "night": ("#14213d", "#1f3a5f", "#28527a", "#0b1626", "#fca311", "#e5e5e5"),
    "evening": ("#2f3e46", "#52796f", "#84a98c", "#26323a", "#f6e7cb", "#e9a178"),
    "sand": ("#f2e8cf", "#e3d5a8", "#a7c957", "#6a994e", "#fffdf5", "#bc4749"),
    "rain": ("#5c6b73", "#9db4c0", "#3a4a52", "#253237", "#e0fbfc", "#c1443c"),
}
"""Sky above, sky below, far, near, light, accent."""


class _Canvas:
    """Draws with coordinates of a 96 by 54 grid."""

    def __init__(self, draw: ImageDraw, palette: str) -> None:
        self._draw = draw
        self.top, self.low, self.far, self.near, self.light, self.accent = _PALETTES[palette]

    def shape(self, colour: Colour, *points: Point) -> None:
        self._draw.polygon([(x * _SCALE, y * _SCALE) for x, y in points], fill=colour)

    def box(self, colour: Colour, x: float, y: float, width: float, height: float, round_: float = 0) -> None:
        corners = (x * _SCALE, y * _SCALE, (x + width) * _SCALE, (y + height) * _SCALE)
        self._draw.rounded_rectangle(corners, round_ * _SCALE, fill=colour)

    def disc(self, colour: Colour, x: float, y: float, radius: float, height: float | None = None) -> None:
        tall = radius if height is None else height
        corners = ((x - radius) * _SCALE, (y - tall) * _SCALE, (x + radius) * _SCALE, (y + tall) * _SCALE)
        self._draw.ellipse(corners, fill=colour)

    def line(self, colour: Colour, width: float, *points: Point) -> None:
        scaled = [(x * _SCALE, y * _SCALE) for x, y in points]
        self._draw.line(scaled, fill=colour, width=round(width * _SCALE), joint="curve")

    def ring(self, colour: Colour, x: float, y: float, radius: float, width: float) -> None:
        corners = ((x - radius) * _SCALE, (y - radius) * _SCALE, (x + radius) * _SCALE, (y + radius) * _SCALE)
        self._draw.ellipse(corners, outline=colour, width=round(width * _SCALE))

    def hill(self, colour: Colour, base: float, height: float, waves: float, shift: float) -> None:
        """Fill everything below a wavy line."""
        line = [(x, base - height * math.sin(shift + waves * x / 96 * math.pi)) for x in range(97)]
        self.shape(colour, *line, (96, 54), (0, 54))


_SCALE: Final = _WIDTH / 96 * _FINER


def draw_picture(scene: str, palette: str) -> bytes:
    """Return a scene as a PNG file of a few kilobytes."""
    from PIL import Image, ImageDraw

    size = (_WIDTH * _FINER, _HEIGHT * _FINER)
    picture = Image.new("RGB", size)
    canvas = _Canvas(ImageDraw.Draw(picture), palette)
    _draw_sky(canvas)
    _SCENES[scene](canvas)
    small = picture.resize((_WIDTH, _HEIGHT), Image.Resampling.BOX)
    file = io.BytesIO()
    small.quantize(64, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


def _draw_sky(canvas: _Canvas) -> None:
    steps = 9
    for step in range(steps):
        canvas.box(_mix(canvas.top, canvas.low, step / (steps - 1)), 0, step * 5, 96, 54)


def _mix(first: Colour, second: Colour, share: float) -> Colour:
    pairs = ((int(first[at : at + 2], 16), int(second[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _sea(canvas: _Canvas) -> None:
    canvas.box(canvas.far, 0, 38, 96, 16)
    for row, (y, shift) in enumerate(((41, 0), (45, 9), (49, 4))):
        for x in range(-4, 96, 22):
            canvas.box(_mix(canvas.far, canvas.near, 0.5), x + shift, y, 12 - 2 * row, 0.7, 0.3)


def _table(canvas: _Canvas) -> None:
    canvas.box(canvas.near, 0, 43, 96, 11)
    canvas.box(_mix(canvas.near, canvas.far, 0.4), 0, 43, 96, 0.8)


def _clock(canvas: _Canvas) -> None:
    _sea(canvas)
    canvas.disc(canvas.near, 48, 24, 18.5)
    canvas.disc(canvas.light, 48, 24, 17)
    for hour in range(12):
        angle = hour * math.pi / 6
        x, y = 48 + 14.5 * math.sin(angle), 24 - 14.5 * math.cos(angle)
        canvas.disc(canvas.near, x, y, 0.9 if hour % 3 == 0 else 0.5)
    canvas.line(canvas.accent, 1.4, (45, 29), (57, 13))
    canvas.disc(canvas.near, 48, 24, 1.6)


def _bench(canvas: _Canvas) -> None:
    canvas.disc(canvas.light, 76, 13, 6)
    canvas.hill(canvas.far, 40, 4, 1.6, 0.4)
    canvas.hill(canvas.near, 47, 1.5, 1.2, 2)
    for x, size in ((20, 9), (31, 7)):
        canvas.box(canvas.near, x - 0.8, 26, 1.6, 20)
        canvas.disc(_mix(canvas.far, canvas.near, 0.6), x, 22, size, size * 1.15)
    for y in (33.5, 36.5, 40):
        canvas.box(canvas.accent, 46, y, 30, 1.7, 0.5)
    for x in (50, 71):
        canvas.box(canvas.near, x, 33, 1.4, 14)


def _ferry(canvas: _Canvas) -> None:
    canvas.disc(canvas.accent, 76, 11, 5)
    _sea(canvas)
    canvas.shape(canvas.near, (20, 36), (74, 36), (68, 43), (27, 43))
    canvas.box(_mix(canvas.near, canvas.far, 0.5), 30, 27, 34, 9, 0.6)
    canvas.box(canvas.near, 52, 20, 5, 7)
    for x in range(33, 62, 5):
        canvas.box(canvas.light, x, 30, 2.6, 2.8, 0.4)
    canvas.disc(canvas.light, 29, 34, 0.8)


def _bread(canvas: _Canvas) -> None:
    _table(canvas)
    canvas.box(_mix(canvas.near, canvas.accent, 0.35), 20, 40, 56, 4, 1.5)
    canvas.disc("#a9672f", 48, 32, 22, 10.5)
    canvas.disc("#c98a4b", 48, 30.5, 20, 8.5)
    for x in (38, 46, 54):
        canvas.line("#f3dcb5", 1.1, (x - 3, 34), (x + 1.5, 29.5), (x + 4, 25))


def _map(canvas: _Canvas) -> None:
    _table(canvas)
    for fold in range(4):
        lift = 2 if fold % 2 else 0
        shade = _mix(canvas.light, canvas.low, 0.35 * (fold % 2))
        x = 16 + fold * 16
        canvas.shape(shade, (x, 10 + lift), (x + 16, 12 - lift), (x + 16, 48 - lift), (x, 46 + lift))
    canvas.line(canvas.far, 1.6, (16, 22), (28, 26), (38, 24), (50, 34), (64, 32), (80, 40))
    canvas.line(canvas.near, 0.5, (22, 44), (34, 38), (52, 42), (74, 20))
    canvas.shape(canvas.accent, (66, 14), (69, 22), (66, 20), (63, 22))
    canvas.ring(canvas.near, 66, 19, 6, 0.4)
    canvas.disc(canvas.accent, 34, 38, 1.2)


def _lamp(canvas: _Canvas) -> None:
    _table(canvas)
    canvas.shape(_mix(canvas.top, canvas.light, 0.35), (51, 18), (65, 24), (70, 43), (30, 43))
    canvas.line(canvas.accent, 1.1, (36, 42), (30, 24), (54, 12))
    canvas.shape(canvas.accent, (52, 9), (60, 12.5), (67, 24), (49, 17))
    canvas.disc(canvas.light, 58, 21, 3, 1.8)
    canvas.box("#7b4b2a", 27, 40.5, 18, 3.4, 1.4)
    canvas.disc(canvas.light, 31, 42, 0.7)


def _books(canvas: _Canvas) -> None:
    _table(canvas)
    colours = (
        canvas.accent,
        canvas.far,
        canvas.light,
        canvas.near,
        canvas.low,
        canvas.far,
        canvas.accent,
        canvas.light,
    )
    x = 18.0
    for number, colour in enumerate(colours):
        width, height = 5.5 + number % 3 * 1.3, 22 + number * 7 % 11
        canvas.box(_mix(colour, canvas.top, 0.08), x, 43 - height, width, height, 0.5)
        canvas.box(_mix(colour, canvas.near, 0.45), x + width / 2 - 0.4, 43 - height + 3, 0.8, height - 9)
        x += width + 0.6


def _hills(canvas: _Canvas) -> None:
    canvas.disc(canvas.light, 70, 14, 7)
    canvas.hill(_mix(canvas.far, canvas.low, 0.5), 30, 5, 2.2, 0.5)
    canvas.hill(canvas.far, 37, 5, 1.7, 2.4)
    canvas.hill(canvas.near, 45, 4, 1.3, 4.6)
    canvas.line(canvas.light, 1, (20, 54), (30, 49), (26, 45.5), (37, 43), (34, 41))


def _bicycle(canvas: _Canvas) -> None:
    canvas.box(canvas.far, 0, 0, 96, 44)
    for row in range(6):
        for x in range(-8 + row % 2 * 6, 96, 12):
            canvas.box(_mix(canvas.far, canvas.low, 0.35), x, 2 + row * 7, 10.5, 5.6, 0.5)
    canvas.box(canvas.near, 0, 44, 96, 10)
    for x in (32, 64):
        canvas.ring(canvas.near, x, 34, 11, 1)
    canvas.line(canvas.accent, 1.2, (32, 34), (42, 20), (60, 20), (48, 34), (32, 34))
    canvas.line(canvas.accent, 1.2, (42, 20), (48, 34))
    canvas.line(canvas.accent, 1.2, (64, 34), (59, 15), (64, 14))
    canvas.box(canvas.near, 38, 17, 7, 1.6, 0.8)
    canvas.disc(canvas.near, 48, 34, 1.8)


def _umbrella(canvas: _Canvas) -> None:
    for number in range(46):
        x, y = number * 37 % 96, number * 23 % 46
        canvas.line(_mix(canvas.low, canvas.light, 0.4), 0.35, (x, y), (x - 1.4, y + 4.5))
    canvas.box(canvas.near, 0, 47, 96, 7)
    canvas.line(canvas.near, 0.9, (48, 12), (48, 42), (46.5, 44), (44.5, 43))
    canvas.shape(
        canvas.accent,
        *((48 + 22 * math.cos(a / 20 * math.pi), 27 - 17 * math.sin(a / 20 * math.pi)) for a in range(21)),
    )
    for scallop in (29.5, 38.8, 48.0, 57.2, 66.5):
        canvas.disc(_mix(canvas.top, canvas.low, 0.55), scallop, 27.4, 4.2, 2.2)


def _lighthouse(canvas: _Canvas) -> None:
    canvas.shape(_mix(canvas.top, canvas.accent, 0.5), (58, 14), (96, 4), (96, 24))
    _sea(canvas)
    canvas.shape(canvas.near, (36, 44), (44, 34), (68, 34), (80, 44))
    canvas.shape(canvas.light, (51, 36), (53, 18), (61, 18), (63, 36))
    for y, left, right in ((22, 52.5, 61.5), (29, 51.8, 62.2)):
        canvas.shape("#bc4b51", (left, y), (right, y), (right + 0.4, y + 3.6), (left - 0.4, y + 3.6))
    canvas.box(canvas.near, 52, 11, 10, 7, 0.5)
    canvas.box(canvas.accent, 54, 12.5, 6, 4)
    canvas.shape("#bc4b51", (51, 11), (57, 6.5), (63, 11))


def _pot(canvas: _Canvas) -> None:
    _table(canvas)
    canvas.shape("#8d99a6", (40, 27), (56, 27), (59, 43), (37, 43))
    canvas.shape("#b4bec8", (38, 11), (58, 11), (56, 27), (40, 27))
    canvas.shape("#b4bec8", (38, 11), (34, 13), (39, 18))
    canvas.box("#6b7682", 39, 26, 18, 2, 0.5)
    canvas.shape("#8d99a6", (37, 11), (48, 6), (59, 11))
    canvas.disc("#7b4b2a", 48, 5.4, 1.6)
    canvas.line("#7b4b2a", 2.2, (58, 13), (66, 14), (66, 25))
    canvas.box(canvas.accent, 72, 36, 9, 7, 1.5)


def _cup(canvas: _Canvas) -> None:
    _table(canvas)
    canvas.disc(_mix(canvas.light, canvas.near, 0.25), 48, 43, 18, 2.6)
    canvas.ring(canvas.light, 61, 33, 4.6, 1.5)
    canvas.shape(canvas.light, (34, 26), (62, 26), (58, 42), (38, 42))
    canvas.disc("#5a3826", 48, 26.4, 13.4, 2)
    for x in (43, 50):
        steam = [(x + math.sin(y / 3.0) * 1.4, y) for y in range(10, 23)]
        canvas.line(_mix(canvas.top, canvas.light, 0.5), 0.8, *steam)


def _cloth(canvas: _Canvas) -> None:
    canvas.box(canvas.low, 0, 0, 96, 54)
    canvas.shape(canvas.top, (48, 4), (84, 27), (48, 50), (12, 27))
    for row in range(7):
        for column in range(7):
            x, y = 48 + (column - row) * 5, 8.5 + (column + row) * 3.1
            canvas.ring(_mix(canvas.top, canvas.accent, 0.75), x, y, 1.3, 0.35)
    canvas.shape(canvas.near, (48, 22), (60, 18), (56, 27), (62, 35), (48, 31), (34, 35), (40, 27), (36, 18))
    canvas.disc(canvas.far, 48, 27, 3.4)


_SCENES: Final[dict[str, Callable[[_Canvas], None]]] = {
    "bench": _bench,
    "bicycle": _bicycle,
    "books": _books,
    "bread": _bread,
    "clock": _clock,
    "cloth": _cloth,
    "cup": _cup,
    "ferry": _ferry,
    "hills": _hills,
    "lamp": _lamp,
    "lighthouse": _lighthouse,
    "map": _map,
    "pot": _pot,
    "umbrella": _umbrella,
}
