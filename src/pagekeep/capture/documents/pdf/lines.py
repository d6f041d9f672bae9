"""Words to lines in their reading order, without running heads, feet and page numbers."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from typing import Final

from pagekeep.capture.documents.pdf.values import Line, PdfPage, Word
from pagekeep.model import Removal

_BACK: Final = 1.0
"""How far back, in type sizes, a word may begin on the same line: accents and kerning."""
_RAISED: Final = 0.12
"""How far above the baseline, in type sizes of the line, a superscript sits at least."""
_SMALL: Final = 0.9
"""Part of the line's type size below which a raised word is a superscript."""
_NEAR: Final = 0.25
"""Gap, in type sizes, below which a superscript belongs to the word before it."""
COLUMN_GAP: Final = 1.6
"""Gap between two words, in type sizes, from which they are cells of a table or lines of two columns."""


def make_lines(words: list[Word]) -> list[Line]:
    """Return the lines of the words, measured, with superscripts marked."""
    lines: list[Line] = []
    current: list[Word] = []
    for word in words:
        if current and not _is_same_line(current, word):
            lines.append(Line(current))
            current = []
        current.append(word)
    if current:
        lines.append(Line(current))
    for line in lines:
        line.measure()
        _mark_raised(line)
    return lines


def _is_same_line(words: list[Word], word: Word) -> bool:
    last, size = words[-1], max(words[-1].size, word.size)
    overlap = min(last.bottom, word.bottom) - max(last.top, word.top)
    height = min(last.bottom - last.top, word.bottom - word.top)
    if overlap < 0.5 * height or abs(last.base - word.base) > 0.6 * size:
        return False
    to_the_left = last.x0 - word.x1 > -0.3 * size and len(words) > 1 and words[0].x0 > word.x1
    return word.x0 > last.x1 - _BACK * size or to_the_left


def _mark_raised(line: Line) -> None:
    before: Word | None = None
    for word in line.words:
        small = word.size < _SMALL * line.size
        word.raised = small and line.base - word.base > _RAISED * line.size
        if word.raised and before and word.x0 - before.x1 < _NEAR * line.size:
            word.glued = True  # separate text objects look like separate words
        before = word


def split_cells(line: Line, gap: float = COLUMN_GAP) -> list[list[Word]]:
    """Return the words of a line in groups, parted at wide gaps."""
    cells: list[list[Word]] = [[]]
    for word in line.words:
        if cells[-1] and word.x0 - cells[-1][-1].x1 > gap * line.size:
            cells.append([])
        cells[-1].append(word)
    return cells


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


_EDGE: Final = 0.12
"""Part of the page's height, from the top and from the bottom, in which running heads are."""
_DEEPEST: Final = 3
"""Lines from the top or the bottom that may be running heads."""
_LARGE: Final = 1.25
"""Type sizes of the text from which a line is larger than running heads are."""
_MIN_NUMBERS: Final = 3
_DIGITS: Final = re.compile(r"\d+|(?<![a-z])[ivxlc]{1,6}(?![a-z])")
_NUMBER: Final = re.compile(
    r"(?:page|seite|p\.|página|pagina|стр\.?|-|–|—)?\s*(?:\d{1,4}|[ivxlc]{1,6})\s*(?:[/|-]\s*\d{1,4}|of \d+|von \d+|-|–|—)?",
    re.I,
)
_PRINTED: Final = re.compile(r"(?:file|https?)://\S+\s+\d+/\d+|\d+/\d+/\d+, \d+:\d+\b.*")
"""The lines that browsers add to what they print."""


def remove_running_heads(pages: list[tuple[PdfPage, list[Line]]]) -> list[Removal]:
    """Drop running heads from the lines of all pages; return what was removed."""
    large = _LARGE * _usual_size(pages)
    seen: dict[str, set[int]] = defaultdict(set)
    edges = [_edge_lines(page, lines) for page, lines in pages]
    for (page, _), candidates in zip(pages, edges, strict=True):
        for line in candidates:
            seen[_mask(line, large)].add(page.index)
    numbers = _find_page_numbers(pages, large)
    removals = []
    for (page, lines), candidates in zip(pages, edges, strict=True):
        dropped = numbers.get(page.index, []) + [
            line for line in candidates if _is_running(line, seen[_mask(line, large)], len(pages), page)
        ]
        if dropped:
            gone = set(map(id, dropped))
            lines[:] = [line for line in lines if id(line) not in gone]
            count = sum(len(line.words) for line in dropped)
            removals.append(
                Removal(f"page {page.index + 1}", "running head or page number", count, "pdf-running-heads")
            )
    return removals


def _find_page_numbers(pages: list[tuple[PdfPage, list[Line]]], large: float) -> dict[int, list[Line]]:
    """Return the first or last lines of pages that are numbers, or have one at an end, which count the pages.

    Numbers alone may be anywhere on the page; other lines only at its edge.
    """
    found: dict[int, list[tuple[int, Line]]] = defaultdict(list)
    for page, lines in pages:
        if len(lines) > 1:
            refs = find_refs(lines)
            for line in (min(lines, key=lambda line: line.top), max(lines, key=lambda line: line.bottom)):
                if line.size >= large or _is_note(line, refs):
                    continue
                at_edge = line.bottom < _EDGE * page.height or line.top > (1 - _EDGE) * page.height
                for word in {line.words[0].text, line.words[-1].text} if at_edge or len(line.words) == 1 else ():
                    if word.isdecimal() and len(word) <= 4:
                        found[int(word) - page.index].append((page.index, line))
    steady = max(found.values(), key=lambda entries: len({index for index, _ in entries}), default=[])
    if len({index for index, _ in steady}) < max(_MIN_NUMBERS, len(pages) * 0.3):
        return {}
    result: dict[int, list[Line]] = defaultdict(list)
    for index, line in steady:
        result[index].append(line)
    return result


def _edge_lines(page: PdfPage, lines: list[Line]) -> list[Line]:
    """Return the lines at the top and bottom edge of a page."""
    refs = find_refs(lines)
    # Footnotes repeat too: "2 Ibid., p. 17".
    ordered = sorted((line for line in lines if not _is_note(line, refs)), key=lambda line: line.top)
    top = [line for line in ordered[:_DEEPEST] if line.bottom < _EDGE * page.height]
    bottom = [line for line in ordered[-_DEEPEST:] if line.top > (1 - _EDGE) * page.height]
    return top + [line for line in bottom if line not in top]


def find_refs(lines: list[Line]) -> set[str]:
    """Return the superscripts of a page, which may be the numbers of its notes."""
    return {word.text.strip("()[],.") for line in lines for word in line.words if word.raised}


def _is_note(line: Line, refs: set[str]) -> bool:
    return len(line.words) > 2 and line.words[0].text in refs


def _usual_size(pages: list[tuple[PdfPage, list[Line]]]) -> float:
    sizes: Counter[float] = Counter()
    for _, lines in pages:
        for line in lines:
            sizes[line.size] += len(line.words)
    return max(sizes, key=lambda size: (sizes[size], size)) if sizes else 10.0


def _mask(line: Line, large: float) -> str:
    """Return what a line has in common with its repetitions; large type ("Chapter 2") is a heading if its digits change."""
    words = " ".join(sorted(line.text.lower().split()[:12]))
    return f"large {words}" if line.size >= large else _DIGITS.sub("0", words)


def _is_running(line: Line, where: set[int], pages: int, page: PdfPage) -> bool:
    text = line.text
    if _PRINTED.fullmatch(text):
        return True
    if _NUMBER.fullmatch(text):
        return pages > 1 or line.top > (1 - _EDGE) * page.height
    near = len(where & {page.index - 2, page.index - 1, page.index + 1, page.index + 2})
    # On every page, or on every second: left and right pages often have different heads.
    return near >= 1 and len(where) >= max(2, min(3, pages * 0.3))
