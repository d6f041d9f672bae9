"""Quotes and callouts."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.dom import Element
from pagekeep.markdown.run import Stack
from pagekeep.markdown.writer import Block, Writer, enter, join

_NOT_A_NAME: Final = re.compile(r"[^a-z0-9-]+")


def quote(writer: Writer, node: Element, out: list[Block], stack: Stack) -> None:
    """`> lines`, or a callout: `> [!note] Title` above them."""
    if writer.is_deep:
        enter(writer, node, out, stack)
        return
    blocks = writer.nested(node.children)
    text = join(blocks)
    if "callout" in (node.attr("class") or "").split():
        head = _callout_head(writer, node)
        text = head + ("\n" if blocks and blocks[0].kind == "p" else "\n\n" if blocks else "") + text
    if text:
        out.append(Block("quote", "\n".join([f"> {line}" if line else ">" for line in text.split("\n")])))


def _callout_head(writer: Writer, node: Element) -> str:
    name = _NOT_A_NAME.sub("-", (node.attr("data-callout") or "").strip().lower()).strip("-") or "note"
    title = writer.line([node.attr("data-title") or ""])
    return f"[!{name}] {title}".rstrip()
