"""Code: spans in a line and fenced blocks."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.dom import Element, text_of
from pagekeep.markdown.escape import clean, longest_ticks
from pagekeep.markdown.links import linked
from pagekeep.markdown.run import Run, Stack
from pagekeep.markdown.writer import Block, Writer


def code_span(run: Run, node: Element, stack: Stack) -> None:
    """A code span. A link or key inside would be lost in it, so those are turned inside out."""
    children = node.children
    only = children[0] if len(children) == 1 else None
    if isinstance(only, Element) and only.tag == "a" and not run.in_link:
        _linked_code(run, only)
    elif node.tag == "kbd" and any(isinstance(child, Element) and child.tag == "kbd" for child in children):
        stack.extend(children[::-1])
    else:
        run.code(text_of(node))


def _linked_code(run: Run, node: Element) -> None:
    inside = Run(run.inline, flat=True, in_link=True)
    inside.code(text_of(node))
    href = node.attr("href") or ""
    if not href or href.startswith("#"):
        run.code(text_of(node))
    elif inside.parts:
        run.atom(linked(inside.take(), href))


_LANGUAGE: Final = re.compile(r"(?:^|\s)lang(?:uage)?-([^\s`]+)")


def code_block(writer: Writer, node: Element, out: list[Block], stack: Stack) -> None:
    """A fence longer than any inside, the language when the page names it, and the text as it is."""
    text = clean(exact_text(node).replace("\r\n", "\n").replace("\r", "\n")).removesuffix("\n")
    if not text.strip():
        return
    fence = "`" * max(3, longest_ticks(text) + 1)
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
