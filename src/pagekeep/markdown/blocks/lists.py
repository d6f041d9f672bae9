"""Write lists: bullets, numbers, tasks and definitions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from pagekeep.markdown.blocks.writer import Block, Writer, enter, indent, write_words
from pagekeep.markdown.inline.emphasis import SIGNS, STRONG, STRONG_END
from pagekeep.markdown.inline.run import END, Stack, only_text
from pagekeep.model.clean_tree import CleanElement, CleanNode
from pagekeep.text import compile_lazily

_MAX_NUMBER: Final = 999_999_999
"""CommonMark allows at most nine digits in a list number."""
_DIGITS: Final = compile_lazily(r"\d{1,12}$")


def bullet_list(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write a list with `- item` lines."""
    if writer.is_deep:
        enter(writer, node, out, stack)
    else:
        mark = _choose_mark(out, "-", "*")
        _append(out, "list", [_item(writer, item, nodes, mark) for item, nodes in _items(node)], mark)


def numbered_list(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write a list with `1. item` lines, from the number the page starts with."""
    if writer.is_deep:
        enter(writer, node, out, stack)
        return
    start = (node.attr("start") or "1").strip()
    first = min(int(start), _MAX_NUMBER) if _DIGITS.match(start) else 1
    mark = _choose_mark(out, ".", ")")
    items: list[tuple[str, bool]] = []
    for item, nodes in _items(node):
        written = _item(writer, item, nodes, f"{min(first + len(items), _MAX_NUMBER)}{mark}")
        if written[0]:
            items.append(written)
    _append(out, "list" if first == 1 else "ol", items, mark)


def write_bullets(writer: Writer, contents: Sequence[Sequence[CleanNode]], out: list[Block]) -> None:
    """Write a bullet list of these contents."""
    mark = _choose_mark(out, "-", "*")
    _append(out, "list", [_item(writer, None, nodes, mark) for nodes in contents], mark)


def _choose_mark(out: list[Block], usual: str, other: str) -> str:
    """Return the usual mark, or the other one right after a list with the usual mark: the two would become one list."""
    return other if out and out[-1].mark == usual else usual


def _items(node: CleanElement) -> list[tuple[CleanElement | None, list[CleanNode]]]:
    """Return each item with its content; what is in a list but not in an item belongs to the item before."""
    items: list[tuple[CleanElement | None, list[CleanNode]]] = []
    item: CleanElement | None = None
    content: list[CleanNode] = []
    is_shared = False
    for child in node.children:
        if isinstance(child, CleanElement) and child.tag == "li":
            if content:
                items.append((item, content))
            item, content, is_shared = child, child.children, True
        elif content or not isinstance(child, str) or not child.isspace():
            if is_shared:
                content, is_shared = list(content), False
            content.append(child)
    if content:
        items.append((item, content))
    return items


def _item(writer: Writer, item: CleanElement | None, content: Sequence[CleanNode], marker: str) -> tuple[str, bool]:
    """Return the item's lines, and whether it needs blank lines around it."""
    is_task = item is not None and "task" in item.attr("class").split()
    if not is_task and (words := only_text(content)) is not None:
        return f"{marker} {write_words(words)}" if words else "", False
    blocks = writer.nested(content)
    if not blocks:
        return "", False
    if item is not None and is_task:
        blocks = _task(blocks, item.attr("data-done") == "true")
    if blocks[0].kind == "hr":  # `- ---` would be a horizontal rule
        blocks[0] = Block("hr", "___")
    text, tight = blocks[0].text, True
    if len(blocks) > 1:
        parts = [text]
        for before, block in pairwise(blocks):
            close = block.kind == "list" and before.kind == "p"
            tight = tight and close
            parts.append(("\n" if close else "\n\n") + block.text)
        text = "".join(parts)
    return f"{marker} {indent(text, ' ' * (len(marker) + 1))}", not tight


def _task(blocks: list[Block], done: bool) -> list[Block]:
    box = "[x]" if done else "[ ]"
    if blocks[0].kind == "p":
        return [Block("p", f"{box} {blocks[0].text}"), *blocks[1:]]
    return [Block("p", box), *blocks]


def _append(out: list[Block], kind: str, items: list[tuple[str, bool]], mark: str) -> None:
    lines = [text for text, _ in items if text]
    if lines:
        gap = "\n\n" if any(loose for _, loose in items) else "\n"
        out.append(Block(kind, gap.join(lines), mark))


def definition_list(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write bold terms, each followed by its definitions as bullets.

    CommonMark has no definition lists: `: text` would show the colon, and indented text would be code. Bullets keep
    definitions apart from terms and from each other, and may contain any block.
    """
    if writer.is_deep:
        enter(writer, node, out, stack)
        return
    definitions: list[list[CleanNode]] = []
    stray = False
    for child in _entries(node):
        if isinstance(child, CleanElement) and child.tag == "dt":
            write_bullets(writer, definitions, out)
            definitions, stray = [], False
            if text := writer.line([SIGNS[STRONG], *child.children, SIGNS[STRONG_END]]):
                out.append(Block("p", text))
        elif isinstance(child, CleanElement) and child.tag == "dd":
            definitions.append(list(child.children))
            stray = False
        elif stray:
            definitions[-1].append(child)
        else:
            definitions.append([child])
            stray = True
    write_bullets(writer, definitions, out)


def _entries(node: CleanElement) -> list[CleanNode]:
    """Return terms and definitions, without the groups they may be in."""
    entries: list[CleanNode] = []
    pending = node.children[::-1]
    while pending:
        child = pending.pop()
        if isinstance(child, CleanElement) and child.tag == "div":
            pending.extend(child.children[::-1])
        elif isinstance(child, CleanElement) or not child.isspace():
            entries.append(child)
    return entries


def bold_block(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write a term, a summary or a single header cell in bold."""
    stack.extend([END, SIGNS[STRONG_END], *node.children[::-1], SIGNS[STRONG]])
