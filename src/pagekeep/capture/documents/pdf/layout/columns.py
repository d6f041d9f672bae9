"""The reading order: that of the content stream, unless the places of the lines contradict it."""

from __future__ import annotations

import itertools
from typing import Final

from pagekeep.capture.documents.pdf.layout.lines import split_cells
from pagekeep.capture.documents.pdf.values import Line

_MIN_ROWS: Final = 6
"""Lines with a gap at the same place from which they are two columns written across."""
_MIN_FILL: Final = 0.55
"""Part of a column's width that its lines fill on average; cells of tables fill less."""
_MAX_JUMPS: Final = 0.05
"""Share of lines that begin above the line before them, in the same column, from which the stream is out of order."""
_GUTTER: Final = 0.8
_MAX_GUTTERS: Final = 3
"""Gutters within each other: up to eight columns."""


def order_lines(lines: list[Line], depth: int = 0) -> list[Line]:
    """Return the lines in reading order; lines across two columns are split first."""
    gutter = _find_gutter(lines)
    if gutter is not None:
        return _order_by_columns(_split_at(lines, gutter), gutter, depth)
    if _count_jumps(lines) > max(1.0, _MAX_JUMPS * len(lines)):
        return _cut(lines, 0)
    return lines


def _find_gutter(lines: list[Line]) -> float | None:
    """Return the middle of the gap between two columns whose lines are written across the page."""
    gaps = [gap for line in lines for gap in _gaps(line)]
    best = max(((sum(a <= x <= b for a, b in gaps), -x) for a, b in gaps for x in ((a + b) / 2,)), default=(0, 0.0))
    count, x = best[0], -best[1]
    if count < _MIN_ROWS or count < 0.4 * len(lines):
        return None
    parts = [line for line in _split_at(lines, x) if line.x1 <= x or line.x0 >= x]
    left, right = [line for line in parts if line.x1 <= x], [line for line in parts if line.x0 >= x]
    return x if min(_fill(left), _fill(right)) > _MIN_FILL else None


def _gaps(line: Line) -> list[tuple[float, float]]:
    cells = split_cells(line, _GUTTER) if not line.bullet else []  # not behind the numbers of a table of contents
    return [(a[-1].x1, b[0].x0) for a, b in itertools.pairwise(cells)]


def _fill(lines: list[Line]) -> float:
    if len(lines) < _MIN_ROWS:
        return 0.0
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    return sum(line.x1 - line.x0 for line in lines) / (len(lines) * width) if width > 0 else 0.0


def _split_at(lines: list[Line], x: float) -> list[Line]:
    result = []
    for line in lines:
        if any(a <= x <= b for a, b in _gaps(line)):
            halves = ([w for w in line.words if w.x1 <= x], [w for w in line.words if w.x1 > x])
            result += [Line(half).measure() for half in halves if half]
        else:
            result.append(line)
    return result


def _order_by_columns(lines: list[Line], gutter: float, depth: int) -> list[Line]:
    """Return left lines before right ones, between lines that cross the gutter; each side may have columns too."""
    result: list[Line] = []
    left: list[Line] = []
    right: list[Line] = []

    def end_part() -> None:
        for side in (left, right):
            result.extend(order_lines(side, depth + 1) if depth < _MAX_GUTTERS else side)
            side.clear()

    for line in sorted(lines, key=lambda line: (line.base, line.x0)):
        if line.x0 < gutter < line.x1:
            end_part()
            result.append(line)
        else:
            (left if line.x1 <= gutter else right).append(line)
    end_part()
    return result


def _count_jumps(lines: list[Line]) -> int:
    """Return how many lines begin above the one before them in the same column."""
    return sum(
        after.bottom < before.top and min(after.x1, before.x1) > max(after.x0, before.x0)
        for before, after in itertools.pairwise(lines)
    )


def _cut(lines: list[Line], depth: int) -> list[Line]:
    """Return the lines ordered by cutting the page at its widest empty strips, across and down in turn."""
    if len(lines) < 2 or depth > 12:
        return sorted(lines, key=lambda line: (line.base, line.x0))
    size = sorted(line.size for line in lines)[len(lines) // 2]
    down = _strips([(line.x0, line.x1) for line in lines], _GUTTER * size)
    if down is not None:
        left = [line for line in lines if line.x1 <= down]
        return _cut(left, depth + 1) + _cut([line for line in lines if line.x1 > down], depth + 1)
    across = _strips([(line.top, line.bottom) for line in lines], 0.3 * size)
    if across is not None:
        above = [line for line in lines if line.bottom <= across]
        return _cut(above, depth + 1) + _cut([line for line in lines if line.bottom > across], depth + 1)
    return sorted(lines, key=lambda line: (line.base, line.x0))


def _strips(spans: list[tuple[float, float]], least: float) -> float | None:
    """Return the beginning of the widest gap that no span covers."""
    best, end, place = least, float("-inf"), None
    for low, high in sorted(spans):
        if end > float("-inf") and low - end > best:
            best, place = low - end, end
        end = max(end, high)
    return place
