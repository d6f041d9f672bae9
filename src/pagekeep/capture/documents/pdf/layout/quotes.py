"""Quotes: paragraphs of the text's size that keep a distance from both edges of their column."""

from __future__ import annotations

from typing import Final

from pagekeep.capture.documents.pdf.values import Block

_MIN_INSET: Final = 1.0
"""Distance from both edges in type sizes: LaTeX uses 2.5, Word 3, browsers 2.5."""
_MIN_SIZE: Final = 0.97
"""Part of the text's size: an abstract is inset too, but smaller."""


def mark_quotes(blocks: list[Block], body: float) -> None:
    """Turn inset paragraphs into quotes."""
    for block in blocks:
        is_inset = (
            block.kind == "text" and block.inset >= _MIN_INSET and not block.centred and block.size >= _MIN_SIZE * body
        )
        if is_inset:
            block.kind = "quote"
