"""Code: spans in a line and fenced blocks."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.dom import Element, text_of
from pagekeep.markdown.blocks.writer import Block, Writer
from pagekeep.markdown.inline.escape import clean, count_ticks
from pagekeep.markdown.inline.run import Stack

_LANGUAGE: Final = re.compile(r"(?:^|\s)lang(?:uage)?-([^\s`]+)")


def code_block(writer: Writer, node: Element, out: list[Block], stack: Stack) -> None:
    """A fence longer than any inside, the language when the page names it, and the text as it is."""
    text = clean(exact_text(node).replace("\r\n", "\n").replace("\r", "\n")).removesuffix("\n")
    if not text.strip():
        return
    fence = "`" * max(3, count_ticks(text) + 1)
    out.append(Block("code", f"{fence}{language(node)}\n{text}\n{fence}"))


def language(node: Element) -> str:
    """The language a `pre` or its `code` names, or nothing."""
    for holder in (dom.first(node, "code"), node):
        found = _LANGUAGE.search((holder.attr("class") or "") if holder is not None else "")
        if found:
            return clean(found.group(1))
    return ""


def exact_text(node: Element) -> str:
    """The text with `<br>` as the newlines they draw."""
    if dom.first(node, "br") is None:
        return text_of(node)
    parts: list[str] = []
    for inner in dom.nodes(node):
        if isinstance(inner, dom.Text):
            parts.append(inner.data)
        elif isinstance(inner, Element) and inner.tag == "br":
            parts.append("\n")
    return "".join(parts)
