"""Footnotes: small blocks at the foot of a page that begin with a number which the text refers to."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.capture.documents.pdf.values import Block

_SMALL: Final = 0.94
"""Part of the text's size below which a block may be a footnote."""
MARK: Final = re.compile(r"\(?(\d{1,3}|[*†‡§])[.)]?")


def mark_notes(blocks: list[Block], body: float) -> None:
    """Turn footnotes into notes, with their number as marker."""
    refs: dict[int, set[str]] = {}
    for block in blocks:
        for word in block.words:
            if word.raised:
                refs.setdefault(block.page, set()).add(word.text.strip("()[],."))
    for block in blocks:
        if block.kind not in ("text", "item") or not block.size < _SMALL * body:
            continue
        first = block.lines[0].words[0]
        match = MARK.fullmatch(first.text)
        if match and match[1] in refs.get(block.page, ()) and len(block.words) > 2:
            block.kind, block.marker = "note", match[1]
            block.lines[0].words = block.lines[0].words[1:] or block.lines[0].words
            block.lines[0].measure()
