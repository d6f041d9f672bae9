"""Headings: short blocks set larger or bolder than the text, and those that the outline names."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from pagekeep.capture.documents.pdf.layout.blocks import is_bold
from pagekeep.capture.documents.pdf.values import Block, OutlineEntry

_MAX_LINES: Final = 4
_MAX_CHARS: Final = 220
_LARGER: Final = 1.08
"""How much larger than the text a heading is at least."""
_NUMBERED: Final = re.compile(
    r"(?:\d{1,2}\.){0,4}\d{1,2}\.?\s+\S|[A-Z]\.\d|(?:Chapter|Kapitel|Chapitre|Capítulo|Глава|Part|Teil)\s+\w", re.I
)
_LINE_GAP: Final = 1.6
"""Distance of baselines, in type sizes, below which two headings are lines of one."""
_SPACES: Final = re.compile(r"\W+")


def body_size(blocks: list[Block]) -> float:
    """Return the type size of most of the text."""
    sizes: Counter[float] = Counter()
    for block in blocks:
        if block.kind in ("text", "item", "quote"):
            for line in block.lines:
                sizes[line.size] += sum(len(word.text) for word in line.words)
    return max(sizes, key=lambda size: (sizes[size], -size)) if sizes else 10.0


def mark_headings(blocks: list[Block], body: float, outline: list[OutlineEntry]) -> None:
    """Turn the blocks that are headings into such, with levels by type size."""
    named = {_normal(entry.title) for entry in outline if entry.title}
    found = [block for block in blocks if _is_heading(block, body, named)]
    styles = sorted({_style(block) for block in found}, reverse=True)
    levels = {style: min(6, number + 1) for number, style in enumerate(styles)}
    for block in found:
        block.kind, block.level, block.marker = "heading", levels[_style(block)], ""


def join_headings(blocks: list[Block]) -> list[Block]:
    """Return the blocks, with headings whose second line was taken for another one in one piece."""
    result: list[Block] = []
    for block in blocks:
        last = result[-1] if result else None
        if last and last.kind == block.kind == "heading" and last.page == block.page and _style(last) == _style(block):
            gap = block.lines[0].base - last.lines[-1].base
            if 0 < gap < _LINE_GAP * block.size and not _NUMBERED.match(block.text):
                last.lines += block.lines
                continue
        result.append(block)
    return result


def _style(block: Block) -> tuple[float, bool]:
    return round(block.size * 2) / 2, is_bold(block.lines[0])


def _normal(text: str) -> str:
    return _SPACES.sub(" ", text).strip().casefold()


def _is_heading(block: Block, body: float, named: set[str]) -> bool:
    if block.kind not in ("text", "item") or len(block.lines) > _MAX_LINES:
        return False
    if block.lines[0].bullet or (block.kind == "item" and not _NUMBERED.match(block.text)):
        return False
    text = block.text
    if len(text) > _MAX_CHARS or not any(map(str.isalpha, text)):
        return False
    if _normal(text) in named:
        return True
    bold = all(map(is_bold, block.lines))
    if block.kind == "item":
        return bold and block.size >= body
    if block.size >= _LARGER * body and not text.endswith((",", ";")):
        return not text.endswith(".") or len(block.lines) == 1 or block.size >= 1.25 * body
    return bold and block.size >= 0.95 * body and len(block.lines) <= 2 and not text.endswith((".", ",", ";", ":"))
