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
_MIN_SIZE: Final = 0.85
"""Part of the text's size that a bold line in the middle of the column has at least: an abstract's heading."""
_NUMBERED: Final = re.compile(
    r"(?:\d{1,2}\.){0,4}\d{1,2}\.?\s+\S|[A-Z]\.\d|(?:Chapter|Kapitel|Chapitre|Capítulo|Глава|Part|Teil)\s+\w", re.I
)
_FIRST_BLOCKS: Final = 5
"""Blocks among which a title is looked for."""
_NUMBER: Final = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,4}\.?\s")
_MAX_BYLINES: Final = 6
"""Lines behind a title that may be authors, places and dates."""
_MOSTLY: Final = 0.5
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
    found = _drop_byline(blocks, [block for block in blocks if _is_heading(block, body, named)])
    styles = sorted({_style(block) for block in found}, reverse=True)
    levels = {style: min(6, number + 1) for number, style in enumerate(styles)}
    for block in found:
        block.kind, block.level, block.marker = "heading", levels[_style(block)], ""
    _level_numbered(found)
    if len(found) > 2 and found[0].level == 1 and found[1].level > found[2].level > 1:
        found[1].level = found[2].level  # an abstract has a smaller heading than the sections behind it


def _level_numbered(found: list[Block]) -> None:
    """Give headings with numbers of the same depth ("2.1") the level that most of them have."""
    depths: dict[int, list[Block]] = {}
    for block in found:
        number = _NUMBER.match(block.text)
        if number:
            depths.setdefault(number[0].rstrip(". ").count("."), []).append(block)
    for blocks in depths.values():
        levels = Counter(block.level for block in blocks)
        most = max(levels, key=lambda level: (levels[level], -level))
        for block in blocks:
            block.level = most


def find_tagged_title(blocks: list[Block], body: float) -> None:
    """Turn the title of a tagged document that its structure tree has as a paragraph into its first heading."""
    first = next((index for index, block in enumerate(blocks) if block.kind == "heading"), len(blocks))
    largest = max((block.size for block in blocks if block.kind == "heading"), default=body)
    for block in blocks[: min(first, _FIRST_BLOCKS)]:
        large = block.size > _LARGER * largest and len(block.lines) <= _MAX_LINES
        if block.page == 0 and block.kind == "text" and large and len(block.text) <= _MAX_CHARS:
            if any(other.level == 1 for other in blocks if other.kind == "heading"):
                for other in blocks:
                    other.level += other.kind == "heading"
            block.kind, block.level = "heading", 1
            return


def _drop_byline(blocks: list[Block], found: list[Block]) -> list[Block]:
    """Return the headings without the lines between the title and the text that are authors and dates: not bold, as others."""
    if not found or found[0].page != 0:
        return found
    title, rest = found[0], found[1:]
    bold = sum(is_bold(block.lines[0]) for block in rest)
    start = next(index for index, block in enumerate(blocks) if block is title)
    dropped: set[int] = set()
    for block in blocks[start + 1 : start + 1 + _MAX_BYLINES]:
        style = _style(block)
        if block.page or style[1] or style >= _style(title) or (block.kind == "text" and len(block.lines) > 2):
            break
        alone = sum(_style(other) == style for other in rest) == sum(
            _style(other) == style
            for other in blocks[start + 1 : start + 1 + _MAX_BYLINES]
            if any(other is one for one in rest)
        )
        if alone or bold > _MOSTLY * len(rest):
            dropped.add(id(block))
    return [block for block in found if id(block) not in dropped]


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
    words = block.lines[0].words
    bold = sum(len(word.text) for word in words if word.font.bold)
    return round(block.size * 2) / 2, bold > _MOSTLY * sum(len(word.text) for word in words)


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
    if bold and block.centred and len(block.lines) == 1 and block.size >= _MIN_SIZE * body and not text.endswith("."):
        return True
    if block.kind == "item":
        return bold and block.size >= body
    if block.size >= _LARGER * body and not text.endswith((",", ";")):
        return not text.endswith(".") or len(block.lines) == 1 or block.size >= 1.25 * body
    return bold and block.size >= 0.95 * body and len(block.lines) <= 2 and not text.endswith((".", ",", ";", ":"))
