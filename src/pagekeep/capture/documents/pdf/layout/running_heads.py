"""Remove running heads, feet and page numbers: lines at the edges of pages that repeat with other digits."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Final

from pagekeep.capture.documents.pdf.values import Line, PdfPage
from pagekeep.model import Removal

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
            refs = _find_refs(lines)
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
    refs = _find_refs(lines)
    # Footnotes repeat too: "2 Ibid., p. 17".
    ordered = sorted((line for line in lines if not _is_note(line, refs)), key=lambda line: line.top)
    top = [line for line in ordered[:_DEEPEST] if line.bottom < _EDGE * page.height]
    bottom = [line for line in ordered[-_DEEPEST:] if line.top > (1 - _EDGE) * page.height]
    return top + [line for line in bottom if line not in top]


def _find_refs(lines: list[Line]) -> set[str]:
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
