"""Boxes that only their style makes preformatted: code as a `pre`, text with its line breaks."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.code.text import code_text
from pagekeep.extraction.clean.state import Removals
from pagekeep.extraction.clean.vocabulary import ancestors
from pagekeep.text import compile_lazily

_STYLED: Final = '[style*="white-space"]'
_PRE: Final = compile_lazily(r"white-space\s*:\s*pre(?![\w-])", re.I)
_WRAPPED: Final = compile_lazily(r"white-space\s*:\s*(?:pre-wrap|pre-line|break-spaces)", re.I)
_MONOSPACE: Final = compile_lazily(r"(?i)monospace|courier|menlo|monaco|consolas|mono\b")
_BOXES: Final = frozenset(("div", "section", "p", "td", "figure"))
_NOT_CODE: Final = "img,h1,h2,h3,h4,h5,h6,iframe,video,table,ul,ol,pre"
_MAX_DEPTH: Final = 12
"""Boxes around an element that are searched for a `pre`."""


def write_preformatted(root: dom.Element, removals: Removals) -> None:
    """Turn boxes with `white-space: pre` into `pre`, and line breaks in those with `pre-wrap` into `br`."""
    for node in dom.select(root, _STYLED):
        if node.tag not in _BOXES or node.parent is None or _is_in_code(node):
            continue
        style = node.attr("style") or ""
        if _PRE.search(style) and dom.first(node, _NOT_CODE) is None:
            _write_code(node, style, removals)
        elif _WRAPPED.search(style):
            write_line_breaks(node, inner=True)


def _is_in_code(node: dom.Element) -> bool:
    return any(above.tag in ("pre", "code") for above in ancestors(node, _MAX_DEPTH))


def _write_code(node: dom.Element, style: str, removals: Removals) -> None:
    text = code_text(node, removals)
    lines = text.strip("\n").split("\n")
    if len(lines) > 1 and (_MONOSPACE.search(style) or _MONOSPACE.search(dom.html_of(node)[:2000])):
        removals.note_rebuilt(node)
        dom.replace(node, dom.element("pre", {"class": node.attr("class") or ""}, text.strip("\n")))
    else:
        write_line_breaks(node, inner=True)


def write_line_breaks(node: dom.Element, *, inner: bool = False) -> None:
    """Put line breaks where the text of the element has them; `inner` ignores those around a text, which indent the source."""
    for text in [text for text in dom.nodes(node) if isinstance(text, dom.Text) and "\n" in text.data]:
        data = text.data.strip() if inner else text.data
        if inner and "\n" not in data:
            continue
        parts: list[dom.Node | str] = []
        for number, line in enumerate(data.split("\n")):
            if number:
                parts.append(dom.element("br"))
            if line:
                parts.append(line)
        dom.replace(text, *parts)
