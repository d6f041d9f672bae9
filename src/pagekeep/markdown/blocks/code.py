"""Write fenced code blocks."""

from __future__ import annotations

from typing import Final

from pagekeep.markdown.blocks.writer import Block, Writer
from pagekeep.markdown.inline.escape import clean, count_ticks
from pagekeep.markdown.inline.run import Stack
from pagekeep.model.clean_tree import CleanElement, find_all, has_any, text_of
from pagekeep.text import compile_lazily

_MIN_FENCE: Final = 3
_LANGUAGE: Final = compile_lazily(r"(?:^|\s)lang(?:uage)?-([^\s`]+)")


def code_block(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write a code block: a fence longer than any inside, the language if the page names it, and the text as it is."""
    text = clean(exact_text(node).replace("\r\n", "\n").replace("\r", "\n")).removesuffix("\n")
    if not text.strip():
        return
    fence = "`" * max(_MIN_FENCE, count_ticks(text) + 1)
    out.append(Block("code", f"{fence}{language(node)}\n{text}\n{fence}"))


def language(node: CleanElement) -> str:
    """Return the language that a `pre` or its `code` names; empty without one."""
    for holder in (*find_all(node, ("code",))[:1], node):
        match = _LANGUAGE.search(holder.attr("class"))
        if match:
            return clean(match.group(1))
    return ""


def exact_text(node: CleanElement) -> str:
    """Return the text with `<br>` as newlines."""
    if not has_any(node, ("br",)):
        return text_of(node)
    parts: list[str] = []
    pending = node.children[::-1]
    while pending:
        child = pending.pop()
        if isinstance(child, str):
            parts.append(child)
        else:
            if child.tag == "br":
                parts.append("\n")
            pending.extend(child.children[::-1])
    return "".join(parts)
