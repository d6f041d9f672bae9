"""Figures and their captions."""

from __future__ import annotations

from pagekeep import dom
from pagekeep.dom import Element, Node
from pagekeep.markdown.emphasis import EM, EM_END
from pagekeep.markdown.run import END, Stack
from pagekeep.markdown.writer import Block, Writer


def figure(writer: Writer, node: Element, out: list[Block], stack: Stack) -> None:
    """Each image on its own line, the caption under it."""
    children: list[Node] = list(node.children)
    captions = [child for child in children if isinstance(child, Element) and child.tag == "figcaption"]
    if captions and dom.first(node, "img") is not None and not _has_other_text(node, captions):
        children = [child for child in children if child not in captions] + list(captions)
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
