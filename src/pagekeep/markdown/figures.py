"""Figures and their captions."""

from __future__ import annotations

from pagekeep import dom
from pagekeep.dom import Element, Node
from pagekeep.markdown.emphasis import EM, EM_END
from pagekeep.markdown.run import END, Stack
from pagekeep.markdown.writer import Block, Writer


def figure(writer: Writer, node: Element, out: list[Block], stack: Stack) -> None:
    """Each image on its own line, the caption under it."""
    captions: list[Element] = []
    others: list[Node] = []
    for child in node.children:
        if isinstance(child, Element) and child.tag == "figcaption":
            captions.append(child)
        else:
            others.append(child)
    is_picture = captions and dom.first(node, "img") is not None and not _has_other_text(node, captions)
    children = [*others, *captions] if is_picture else node.children
    stack.append(END)
    for child in reversed(children):
        is_image = isinstance(child, Element) and child.tag in ("img", "a")
        stack.extend((END, child, END) if is_image else (child,))


def _has_other_text(node: Element, captions: list[Element]) -> bool:
    return dom.text_of(node).split() != [word for caption in captions for word in dom.text_of(caption).split()]


def caption(writer: Writer, node: Element, out: list[Block], stack: Stack) -> None:
    """The caption as a line in italics."""
    if text := writer.line([EM, *node.children, EM_END]):
        out.append(Block("p", text))
