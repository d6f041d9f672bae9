"""Lines to blocks: paragraphs, list items and code, by distance, indent, type size and markers."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import Final

from pagekeep.capture.documents.pdf.values import Block, Box, Line, PdfPage

_MARKER: Final = re.compile(
    r"(?P<bullet>[•◦▪▫●○■□‣⁃∙·*➢➤✓✔–—-])(?=\s|$)|(?P<number>\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)])(?=\s|$)", re.I
)
_FAR: Final = 1.28
"""Distance of baselines, in usual distances, from which a new paragraph begins."""
_LEADING: Final = (0.9, 2.2)
"""Distances of baselines within a paragraph, in type sizes."""
_SHORT: Final = 0.82
"""Part of the column's width below which a line ends a paragraph, when its sentence ends too."""
_ENDS: Final = (".", "!", "?", ":", "。", "！", "？", "”", '"', "»", "…")


class Leading:
    """The usual distance of baselines for each type size in a document."""

    def __init__(self, pages: list[list[Line]]) -> None:
        counts: dict[float, Counter[float]] = {}
        for lines in pages:
            for before, after in itertools.pairwise(lines):
                gap = after.base - before.base
                if before.size == after.size and _LEADING[0] * before.size < gap < _LEADING[1] * before.size:
                    counts.setdefault(before.size, Counter())[round(gap * 2) / 2] += 1
        self._usual = {size: min(gaps, key=lambda gap: (-gaps[gap], gap)) for size, gaps in counts.items()}

    def of(self, size: float) -> float:
        """Return the usual distance for a type size."""
        return self._usual.get(size, 1.25 * size)


def is_mono(line: Line) -> bool:
    """Return whether a line is set in a typewriter font, but for a few characters."""
    mono = sum(len(word.text) for word in line.words if word.font.mono)
    return mono > 0.8 * sum(len(word.text) for word in line.words)


def is_bold(line: Line) -> bool:
    """Return whether all of a line is bold."""
    return all(word.font.bold for word in line.words)


def mark_bullets(page: PdfPage, lines: list[Line]) -> None:
    """Mark the lines that have a drawn bullet in front of them."""
    for line in lines:
        line.bullet = any(
            0 < line.x0 - dot.x1 < 2.2 * line.size and line.top < (dot.top + dot.bottom) / 2 < line.bottom
            for dot in page.dots
        )


def find_marker(line: Line) -> str:
    """Return the list marker that a line begins with, drawn or written."""
    if line.bullet:
        return "•"
    match = _MARKER.match(line.words[0].text)
    if match is None or len(line.words) < 2 or line.words[1].glued:
        return ""
    return match[0] if match.end() == len(line.words[0].text) else ""


def make_blocks(items: list[Line | Block], page: PdfPage, leading: Leading) -> list[Block]:
    """Return the blocks of the lines of one page, in the same order."""
    blocks: list[Block] = []
    edges = _column_edges([item for item in items if isinstance(item, Line)])
    for item in items:
        if isinstance(item, Block):
            blocks.append(item)
            continue
        last = blocks[-1] if blocks and blocks[-1].kind != "table" else None
        if is_mono(item):
            if last and last.kind == "code" and 0 < item.base - last.lines[-1].base < 4.5 * item.size:
                last.lines.append(item)
            else:
                blocks.append(Block("code", [item], page.index))
        elif last and last.kind != "code" and _continues(last, item, leading, edges):
            last.lines.append(item)
        else:
            blocks.append(_begin(item, page.index))
    return list(map(_settle_code, blocks))


def _begin(line: Line, page: int) -> Block:
    marker = find_marker(line)
    if not marker:
        return Block("text", [line], page)
    return Block("item", [line], page, marker=marker)


def _settle_code(block: Block) -> Block:
    """A single typewriter line that ends like a sentence is text."""
    if block.kind == "code" and len(block.lines) == 1 and not any(word.font.mono for word in block.words[:1]):
        block.kind = "text"
    return block


def _column_edges(lines: list[Line]) -> list[Box]:
    """Return the left and right edges of the columns: those of lines that overlap."""
    columns: list[Box] = []
    for line in sorted(lines, key=lambda line: line.x0 - line.x1):
        for index, column in enumerate(columns):
            if line.x0 < column.x1 and line.x1 > column.x0:
                columns[index] = Box(min(line.x0, column.x0), 0, max(line.x1, column.x1), 0)
                break
        else:
            columns.append(Box(line.x0, 0, line.x1, 0))
    return columns


def _continues(block: Block, line: Line, leading: Leading, columns: list[Box]) -> bool:
    """Return whether a line belongs to the paragraph or item before it."""
    last, first, size = block.lines[-1], block.lines[0], line.size
    gap = line.base - last.base
    if abs(size - last.size) > 0.08 * last.size or gap <= 0.3 * size or gap > _FAR * leading.of(size) + 0.5:
        return False
    if line.x0 > last.x1 or line.x1 < last.x0 or find_marker(line):
        return False
    if is_bold(line) != is_bold(last) and (is_bold(line) or len(block.lines) == 1 or is_bold(first)):
        return False
    indent = line.x0 - last.x0
    if block.kind == "item":
        start = first.x0 if first.bullet else _text_start(first)
        return abs(line.x0 - start) < 0.8 * size or (len(block.lines) > 1 and abs(indent) < 0.3 * size)
    if len(block.lines) == 1:
        if indent > 0.6 * size and not _is_centred([first], line):
            return False
    elif abs(indent) > 0.6 * size and not _is_centred(block.lines, line):
        return False
    column = next((c for c in columns if c.x0 <= last.x0 < c.x1), None)
    width = column.x1 - column.x0 if column else last.x1 - last.x0
    room = (column.x1 if column else last.x1) - last.x1
    word = line.words[0]
    fits = room > word.x1 - word.x0 + 0.6 * size
    return not (fits and last.x1 - (column.x0 if column else last.x0) < _SHORT * width and last.text.endswith(_ENDS))


def _text_start(line: Line) -> float:
    return line.words[1].x0 if len(line.words) > 1 else line.x0


def _is_centred(lines: list[Line], line: Line) -> bool:
    return all(abs((one.x0 + one.x1) - (line.x0 + line.x1)) / 2 < 0.3 * line.size for one in lines)
