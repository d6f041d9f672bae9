"""Write fenced code blocks."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.dom import Element, text_of
from pagekeep.markdown.blocks.writer import Block, Writer
from pagekeep.markdown.inline.escape import clean, count_ticks
from pagekeep.markdown.inline.run import Stack
from pagekeep.text import compile_lazily

_MIN_FENCE: Final = 3
_LANGUAGE: Final = compile_lazily(r"(?:^|\s)lang(?:uage)?-([^\s`]+)")


def code_block(writer: Writer, node: Element, out: list[Block], stack: Stack) -> None:
    """Write a code block: a fence longer than any inside, the language if the page names it, and the text as it is."""
    text = clean(exact_text(node).replace("\r\n", "\n").replace("\r", "\n")).removesuffix("\n")
    if not text.strip():
        return
    fence = "`" * max(_MIN_FENCE, count_ticks(text) + 1)
    out.append(Block("code", f"{fence}{language(node)}\n{text}\n{fence}"))


def language(node: Element) -> str:
    """Return the language that a `pre` or its `code` names; empty without one."""
    for holder in (dom.first(node, "code"), node):
        match = _LANGUAGE.search((holder.attr("class") or "") if holder is not None else "")
        if match:
            return clean(match.group(1))
    return ""


def exact_text(node: Element) -> str:
    """Return the text with `<br>` as newlines."""
    if dom.first(node, "br") is None:
        return text_of(node)
    parts: list[str] = []
    for inner in dom.nodes(node):
        if isinstance(inner, dom.Text):
            parts.append(inner.data)
        elif isinstance(inner, Element) and inner.tag == "br":
            parts.append("\n")
    return "".join(parts)
