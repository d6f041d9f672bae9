"""Tables of contents: lines with dots that lead to a page number become a list without both."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.capture.documents.pdf.values import Line

_DOTS: Final = re.compile(r"[.…·_]+")
_MIN_DOTS: Final = 3
_PAGE: Final = re.compile(r"\d{1,4}|[ivxlc]{1,6}", re.I)
_MIN_ENTRIES: Final = 4
"""Lines with dots from which a page has a table of contents."""
_FAR: Final = 2.0
"""Gap in front of a page number, in type sizes."""


def shorten_contents(lines: list[Line]) -> None:
    """Cut dots and page numbers from the lines of a table of contents, and mark them as items of a list."""
    dotted = [index for index, line in enumerate(lines) if _first_dot(line)]
    if len(dotted) < _MIN_ENTRIES:
        return
    first, last = dotted[0], dotted[-1]
    while first > 0 and _far_number(lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and _far_number(lines[last + 1]):
        last += 1
    for index in range(first, last + 1):
        line = lines[index]
        end = _first_dot(line) or _far_number(line)
        if end:
            line.words = line.words[:end]
            line.measure()
            line.bullet = True


def _first_dot(line: Line) -> int:
    """Return where the dots of a line begin; 0 when it has none."""
    for index, word in enumerate(line.words[1:], 1):
        if not _DOTS.fullmatch(word.text):
            continue
        dots = 0
        for other in line.words[index:]:
            if not _DOTS.fullmatch(other.text):
                break
            dots += len(other.text)
        if dots >= _MIN_DOTS:
            return index
    return 0


def _far_number(line: Line) -> int:
    """Return where the page number of a line without dots is; 0 when it has none."""
    last = len(line.words) - 1
    if last < 1 or not _PAGE.fullmatch(line.words[last].text):
        return 0
    return last if line.words[last].x0 - line.words[last - 1].x1 > _FAR * line.size else 0
