"""Words to lines: in the order of the content stream, on one baseline, from left to right."""

from __future__ import annotations

from typing import Final

from pagekeep.capture.documents.pdf.values import Line, Word

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
