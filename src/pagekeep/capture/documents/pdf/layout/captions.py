"""Captions: short blocks that name a table or figure by its number, beside it or set apart from the text."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.capture.documents.pdf.values import Block, Font, Line, Word

_LABEL: Final = re.compile(
    r"(?:tab(?:le|elle|leau|la|ella|el|\.)?|fig(?:ure|ura|uur|\.)?|abb(?:ildung|\.)?|cuadro|gr[aá]fico|grafik|chart|listing|"
    r"таблица|табл\.|рисунок|рис\.)\s*\d{1,3}(?:[.-]\d{1,3})*\s?[.:–—]",
    re.I,
)
_MAX_LINES: Final = 6
_SMALL: Final = 0.95
"""Part of the text's size below which a block with a label is a caption wherever it is."""
_MAX_TEXT_CHARS: Final = 2_000


def mark_captions(blocks: list[Block], body: float) -> None:
    """Turn the blocks that are captions into such."""
    for index, block in enumerate(blocks):
        if block.kind != "text" or len(block.lines) > _MAX_LINES or not _LABEL.match(block.text):
            continue
        beside = blocks[max(0, index - 1) : index] + blocks[index + 1 : index + 2]
        italic = all(word.font.italic for word in block.words)
        apart = block.centred or italic or block.size < _SMALL * body
        if apart or any(one.kind == "table" and one.page == block.page for one in beside):
            block.kind = "caption"


def describe_picture(text: str, page: int) -> Block | None:
    """Return the text that a tagged PDF has for a picture as a caption; `None` without one."""
    words = text[:_MAX_TEXT_CHARS].split()
    if not words:
        return None
    font = Font("", False, False, False)
    line = Line([Word(word, 0.0, 0.0, 0.0, 0.0, 0.0, 10.0, font) for word in words])
    return Block("caption", [line.measure()], page)
