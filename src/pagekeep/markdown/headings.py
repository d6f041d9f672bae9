"""Headings, rules and display math: the blocks that are one piece."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.dom import Element, text_of
from pagekeep.markdown.escape import clean, dollars_escaped
from pagekeep.markdown.run import Stack
from pagekeep.markdown.writer import Block, Writer, enter

_CLOSING: Final = re.compile(r"(?:^|(?<= ))(?=#+$)")
_BLANK_LINES: Final = re.compile(r"\n\s*\n|\r\n?")


def heading(writer: Writer, node: Element, out: list[Block], stack: Stack) -> None:
    """`## Heading`: bold within would say it twice, hashes at the end would be dropped."""
    text = writer.line(node.children, bold=True)
    if text.endswith("#"):
        text = _CLOSING.sub(chr(92) * 2, text)
    if text:
        out.append(Block("heading", f"{'#' * int(node.tag[1])} {text}"))


def rule(writer: Writer, node: Element, out: list[Block], stack: Stack) -> None:
    """A line across the page, unless it parts nothing."""
    if out and out[-1].kind != "hr":
        out.append(Block("hr", "---"))


def division(writer: Writer, node: Element, out: list[Block], stack: Stack) -> None:
    """Display math, or nothing but its content."""
    if "math-block" not in (node.attr("class") or ""):
        enter(writer, node, out, stack)
        return
    tex = dollars_escaped(_BLANK_LINES.sub("\n", clean(text_of(node)).strip().strip("$").strip()))
    if tex:
        out.append(Block("math", f"$$\n{tex}\n$$"))
