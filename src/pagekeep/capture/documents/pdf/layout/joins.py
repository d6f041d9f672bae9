"""Join what the ends of columns and pages part: paragraphs, items, code and tables."""

from __future__ import annotations

from typing import Final

from pagekeep.capture.documents.pdf.layout.lists import item_start
from pagekeep.capture.documents.pdf.values import Block, Line

_ENDS: Final = (".", "!", "?", ":", "。", "！", "？", "”", '"', "»", "…", ";")

_MOSTLY: Final = 0.6
_FULL: Final = 0.85
"""Part of the widest line from which a last line is full."""

_HALF: Final = 0.5
"""Part of the widest line from which a last line that does not end a sentence goes on."""


def join_parted(blocks: list[Block]) -> list[Block]:
    """Return the blocks, with each one that goes on in the next column or on the next page in one piece."""
    result: list[Block] = []
    indented = _indents_paragraphs(blocks)
    for block in blocks:
        before = next((one for one in reversed(result[-8:]) if one.kind != "note"), None)
        if before is not None and block.kind != "note" and _is_parted(before, block) and _join(before, block, indented):
            continue
        result.append(block)
    return result


def dissolve_rows(blocks: list[Block]) -> list[Block]:
    """Return the blocks, with tables of a single row as text."""
    for block in blocks:
        if block.kind == "table" and len(block.rows) == 1:
            block.kind = "text"
            block.rows = []
    return blocks


def _is_parted(before: Block, after: Block) -> bool:
    """Return whether a new column or page begins between two blocks."""
    if after.page != before.page:
        return after.page == before.page + 1
    return bool(before.lines and after.lines) and after.lines[0].bottom < before.lines[-1].top


def _indents_paragraphs(blocks: list[Block]) -> bool:
    """Return whether the document marks the beginning of paragraphs by an indent."""
    long = [block for block in blocks if block.kind == "text" and len(block.lines) > 1]
    return sum(map(_is_indented, long)) > _MOSTLY * len(long)


def _is_indented(block: Block) -> bool:
    return len(block.lines) > 1 and block.lines[0].x0 > block.lines[1].x0 + 0.6 * block.size


def _join(before: Block, after: Block, indented: bool) -> bool:
    if before.kind == after.kind == "code":
        before.lines += _shift(before, after)
    elif before.kind == after.kind == "table" and len(before.rows[-1]) == len(after.rows[0]):
        first, head = _row_text(after, 0), _row_text(before, 0)
        if first != head:
            for cell in after.rows[0]:
                cell.header = False
        before.rows += after.rows[1:] if first == head else after.rows
    elif _goes_on(before, after, indented):
        before.lines += after.lines
    else:
        return False
    before.page = after.page  # only headings show their page
    return True


def _row_text(block: Block, index: int) -> list[str]:
    return [" ".join(line.text for line in cell.lines) for cell in block.rows[index]]


def _shift(before: Block, after: Block) -> list[Line]:
    """Return the lines of the second part, moved to the left edge of the first."""
    by = min(line.x0 for line in before.lines) - min(line.x0 for line in after.lines)
    if before.page == after.page:
        for line in after.lines:
            for word in line.words:
                word.x0 += by
                word.x1 += by
            line.measure()
    return after.lines


def _goes_on(before: Block, after: Block, indented: bool) -> bool:
    if before.kind not in ("text", "item", "quote") or after.kind not in ("text", "quote"):
        return after.kind == "item" and before.kind == "item" and after.marker == "" and not after.lines[0].bullet
    if before.kind == "quote" != after.kind or abs(before.lines[-1].size - after.size) > 0.08 * after.size:
        return False
    if (
        before.kind == "item"
        and abs(after.lines[0].x0 - item_start(before)) > 1.5 * after.size
        and before.page == after.page
    ):
        return False
    text, following = before.text, after.text
    if text.endswith(("\u2010", "-", ",")):
        return True
    if text.endswith(_ENDS):
        return indented and before.kind == after.kind == "text" and not _is_indented(after) and _ends_full(before)
    is_lower = following[:1].islower() or not following[:1].isupper()
    return is_lower or _is_cjk(following) or _ends_full(before, _HALF)


def _ends_full(block: Block, least: float = _FULL) -> bool:
    """Return whether the last line of a paragraph is about as long as the others: then its sentence goes on."""
    widest = max(line.x1 - line.x0 for line in block.lines)
    last = block.lines[-1]
    return len(block.lines) > 1 and last.x1 - last.x0 > least * widest


def _is_cjk(text: str) -> bool:
    return bool(text) and "\u2e80" <= text[0] <= "\u9fff"
