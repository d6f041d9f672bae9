"""Lists: which marked lines are items, and how deep each one is."""

from __future__ import annotations

from typing import Final

from pagekeep.capture.documents.pdf.values import Block

_STEP: Final = 0.6
"""Indent, in type sizes, from which an item is deeper than the one before."""


def settle_items(blocks: list[Block]) -> None:
    """Turn lone numbered lines back into text, and set the depth of the other items."""
    stack: list[float] = []
    for index, block in enumerate(blocks):
        if block.kind != "item":
            stack = []
            continue
        if _is_number(block) and not _has_neighbour(blocks, index):
            block.kind, block.marker = "text", ""
            stack = []
            continue
        before = blocks[index - 1] if index else None
        if before and before.lines and (block.page != before.page or block.lines[0].bottom < before.lines[-1].top):
            stack = []  # in another column, the edge is elsewhere
        start = item_start(block)
        while stack and start < stack[-1] - _STEP * block.size:
            stack.pop()
        if not stack or start > stack[-1] + _STEP * block.size:
            stack.append(start)
        block.level = len(stack) - 1


def nest_items(blocks: list[Block]) -> None:
    """Set the depth of items whose structure tree has deeper lists beside their parent, not in it: by their indents."""
    stack: list[float] = []
    before: Block | None = None
    for block in blocks:
        if block.kind != "item":
            before = None
            continue
        if before is None or block.level or block.lines[0].top < before.lines[-1].top:
            stack = []  # a new list, or a new column
        start = block.lines[0].x0
        while stack and start < stack[-1] - _STEP * block.size:
            stack.pop()
        if not stack or start > stack[-1] + _STEP * block.size:
            stack.append(start)
        block.level = max(block.level, len(stack) - 1)
        before = block


def item_start(block: Block) -> float:
    """Return where the text of an item begins."""
    line = block.lines[0]
    return line.x0 if line.bullet or len(line.words) < 2 else line.words[1].x0


def _is_number(block: Block) -> bool:
    return any(map(str.isalnum, block.marker))


def _has_neighbour(blocks: list[Block], index: int) -> bool:
    near = blocks[max(0, index - 1) : index] + blocks[index + 1 : index + 2]
    return any(block.kind == "item" for block in near)


def strip_marker(block: Block) -> None:
    """Drop the written marker from an item's first line."""
    line = block.lines[0]
    if not line.bullet and len(line.words) > 1 and line.words[0].text == block.marker:
        line.words = line.words[1:]
        line.measure()
