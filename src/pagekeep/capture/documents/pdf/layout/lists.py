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
        start = item_start(block)
        while stack and start < stack[-1] - _STEP * block.size:
            stack.pop()
        if not stack or start > stack[-1] + _STEP * block.size:
            stack.append(start)
        block.level = len(stack) - 1


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
