"""Write the simple blocks: headings, rules, display math, quotes, callouts and figures."""

from __future__ import annotations

from typing import Final

from pagekeep.markdown.blocks.writer import Block, Writer, enter, join
from pagekeep.markdown.inline.emphasis import EM, EM_END, SIGNS
from pagekeep.markdown.inline.escape import clean, escape_dollars
from pagekeep.markdown.inline.run import END, Stack
from pagekeep.model.clean_tree import CleanElement, CleanNode, has_any, text_of
from pagekeep.text import compile_lazily

_CLOSING: Final = compile_lazily(r"(?:^|(?<= ))(?=#+$)")
_NOT_A_NAME: Final = compile_lazily(r"[^a-z0-9-]+")
_BLANK_LINES: Final = compile_lazily(r"\n\s*\n|\r\n?")


def heading(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write `## Heading`, without bold, which is redundant; hashes at the end are escaped, as they would be dropped."""
    text = writer.line(node.children, bold=True)
    if text.endswith("#"):
        text = _CLOSING.sub(chr(92) * 2, text)
    if text:
        out.append(Block("heading", f"{'#' * int(node.tag[1])} {text}"))


def rule(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write a horizontal rule, unless there is nothing before it."""
    if out and out[-1].kind != "hr":
        out.append(Block("hr", "---"))


def division(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write display math, or just the content."""
    if "math-block" not in node.attr("class"):
        enter(writer, node, out, stack)
        return
    tex = escape_dollars(_BLANK_LINES.sub("\n", clean(text_of(node)).strip().strip("$").strip()))
    if tex:
        out.append(Block("math", f"$$\n{tex}\n$$"))


def quote(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write a quote as `> lines`, or a callout with `> [!note] Title` above them."""
    if writer.is_deep:
        enter(writer, node, out, stack)
        return
    blocks = writer.nested(node.children)
    text = join(blocks)
    if "callout" in node.attr("class").split():
        head = _callout_head(writer, node)
        text = head + ("\n" if blocks and blocks[0].kind == "p" else "\n\n" if blocks else "") + text
    if text:
        out.append(Block("quote", "\n".join([f"> {line}" if line else ">" for line in text.split("\n")])))


def _callout_head(writer: Writer, node: CleanElement) -> str:
    name = _NOT_A_NAME.sub("-", node.attr("data-callout").strip().lower()).strip("-") or "note"
    title = writer.line([node.attr("data-title")])
    return f"[!{name}] {title}".rstrip()


def figure(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write each image on its own line, with the caption below."""
    captions: list[CleanElement] = []
    others: list[CleanNode] = []
    for child in node.children:
        if isinstance(child, CleanElement) and child.tag == "figcaption":
            captions.append(child)
        else:
            others.append(child)
    is_picture = captions and has_any(node, ("img",)) and not _has_other_text(node, captions)
    children = [*others, *captions] if is_picture else node.children
    stack.append(END)
    for child in reversed(children):
        is_image = isinstance(child, CleanElement) and child.tag in ("img", "a")
        stack.extend((END, child, END) if is_image else (child,))


def _has_other_text(node: CleanElement, captions: list[CleanElement]) -> bool:
    return text_of(node).split() != [word for caption in captions for word in text_of(caption).split()]


def caption(writer: Writer, node: CleanElement, out: list[Block], stack: Stack) -> None:
    """Write the caption as a line in italics."""
    if text := writer.line([SIGNS[EM], *node.children, SIGNS[EM_END]]):
        out.append(Block("p", text))
