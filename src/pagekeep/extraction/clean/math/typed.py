"""Formulas typed into the text as TeX between delimiters."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState
from pagekeep.extraction.clean.vocabulary import ancestors

_DELIMITED: Final = re.compile(
    r"\\\((?P<inline>[^\0]{1,2000}?)\\\)|\\\[(?P<block>[^\0]{1,4000}?)\\\]|\$\$(?P<dollars>[^$]{1,4000}?)\$\$"
)
_DOLLAR: Final = re.compile(r"(?<![\\$\w])\$(?P<dollar>[^\s$](?:[^$\n]{0,300}?[^\s$\\])?)\$(?![\d$])")
_SURELY_TEX: Final = re.compile(r"\\[a-zA-Z]{2,}|[\^_]\{|\w[\^_]\w")
_NOT_TEXT: Final = frozenset(("pre", "code", "kbd", "script", "style", "textarea", "samp", "tt"))
_MAX_CODE_DEPTH: Final = 8
"""Boxes around a text that are searched for code."""


def mark_typed_formulas(state: CleanState) -> None:
    """Turn TeX typed between `$$`, `\\(` or `\\[` into formulas; between single dollars if one is surely TeX."""
    root, text = state.root, dom.text_of(state.root)
    marked = "$$" in text or "\\(" in text or "\\[" in text
    dollars = "$" in text and ("\\" in text or "^" in text or "_" in text) and _holds_dollar_math(text)
    if not marked and not dollars:
        return
    for node in [node for node in dom.nodes(root) if isinstance(node, dom.Text) and _may_hold_tex(node.data)]:
        if not _is_in_code(node):
            parts = _parts(node.data, dollars)
            if len(parts) > 1 or not isinstance(parts[0], str):
                dom.replace(node, *parts)


def _holds_dollar_math(text: str) -> bool:
    """Return whether some text between single dollars is surely TeX; only then the rest is taken for TeX."""
    return any(_SURELY_TEX.search(match["dollar"]) for match in _DOLLAR.finditer(text))


def _may_hold_tex(text: str) -> bool:
    return "$" in text or "\\(" in text or "\\[" in text


def _is_in_code(node: dom.Node) -> bool:
    around = ancestors(node, _MAX_CODE_DEPTH)
    return any(above.tag in _NOT_TEXT or above.attr("class") in ("math-inline", "math-block") for above in around)


def _parts(text: str, dollars: bool) -> list[dom.Node | str]:
    """Return the text with its formulas as elements."""
    parts: list[dom.Node | str] = []
    end = 0
    matches = list(_DELIMITED.finditer(text))
    if dollars and not matches:
        matches = list(_DOLLAR.finditer(text))
    for match in matches:
        kind = match.lastgroup or ""
        tex = match[kind].strip()
        if not tex:
            continue
        if match.start() > end:
            parts.append(text[end : match.start()])
        alone = len(matches) == 1 and not text[: match.start()].strip() and not text[match.end() :].strip()
        parts.append(formula(tex, kind == "block" or (kind == "dollars" and (alone or "\\begin" in tex))))
        end = match.end()
    if end < len(text) or not parts:
        parts.append(text[end:])
    return parts


def formula(tex: str, display: bool) -> dom.Element:
    """Return the element of a formula, on its own line or within one."""
    tag, name = ("div", "math-block") if display else ("span", "math-inline")
    return dom.element(tag, {"class": name}, tex)
