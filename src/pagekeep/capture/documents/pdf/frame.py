"""Places on a page as seen: from the top left corner of its visible part, turned as shown, and bounded."""

from __future__ import annotations

from math import atan2, isfinite
from typing import Any, Final

from pagekeep.capture.documents.pdf.values import Box

MAX_POINT: Final = 20_000.0
"""Coordinates are clamped to this: the largest page that Acrobat allows has 14,400 points."""


def clamp(value: float) -> float:
    """Return a number within the bounds of a page; 0 for one that is not a number."""
    return max(-MAX_POINT, min(MAX_POINT, value)) if isfinite(value) else 0.0


class Frame:
    """Maps a page's own coordinates to those seen: from the top left corner of the visible part, turned as shown."""

    def __init__(self, page: Any, width: float, height: float) -> None:
        left, bottom, right, top = (clamp(value) for value in page.get_cropbox())
        self.left, self._bottom = min(left, right), min(bottom, top)
        self.turns = page.get_rotation() // 90 % 4
        self.width, self.height = width, height

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return a box as seen; a place that is not a number, or far outside, is an empty box in the corner."""
        low, high = -MAX_POINT, MAX_POINT
        if not (low < left < high and low < bottom < high and low < right < high and low < top < high):
            return Box(0.0, 0.0, 0.0, 0.0)
        if left > right or bottom > top:
            left, right, bottom, top = min(left, right), max(left, right), min(bottom, top), max(bottom, top)
        left, right, bottom, top = left - self.left, right - self.left, bottom - self._bottom, top - self._bottom
        if self.turns == 0:
            return Box(left, self.height - top, right, self.height - bottom)
        if self.turns == 1:
            return Box(bottom, left, top, right)
        if self.turns == 2:
            return Box(self.width - right, bottom, self.width - left, top)
        return Box(self.width - top, self.height - right, self.width - bottom, self.height - left)

    def angle(self, b: float, a: float) -> float:
        """Return the direction of text as seen, in radians."""
        x, y = {0: (a, b), 1: (b, -a), 2: (-a, -b), 3: (-b, a)}[self.turns]
        return atan2(y, x)
