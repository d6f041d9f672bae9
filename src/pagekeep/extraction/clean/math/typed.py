"""Formulas typed into the text as TeX between delimiters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState
from pagekeep.extraction.clean.vocabulary import ancestors

_OPENING: Final = re.compile(r"\\\(|\\\[|\$\$")
_KINDS: Final = {"\\(": ("inline", "\\)", 2_000), "\\[": ("block", "\\]", 4_000), "$$": ("dollars", "$", 4_000)}
"""By opening delimiter: the kind of formula, what closes it, and the most characters in it."""
_DOLLAR: Final = re.compile(r"(?<![\\$\w])\$(?P<dollar>[^\s$](?:[^$\n]{0,300}?[^\s$\\])?)\$(?![\d$])")
_SURELY_TEX: Final = re.compile(r"\\[a-zA-Z]{2,}|[\^_]\{|\w[\^_]\w")
_NOT_TEXT: Final = frozenset(("pre", "code", "kbd", "script", "style", "textarea", "samp", "tt"))
_MAX_CODE_DEPTH: Final = 8
"""Boxes around a text that are searched for code."""
MAX_FORMULAS: Final = 20_000
"""Formulas on a page; the rest stays as typed. Each takes about 15 KB of memory while the page is cleaned, and a page of 2 MB
can have 500,000."""


def mark_typed_formulas(state: CleanState) -> None:
    """Turn TeX typed between `$$`, `\\(` or `\\[` into formulas; between single dollars if one is surely TeX."""
    root, text = state.root, dom.text_of(state.root)
    marked = "$$" in text or "\\(" in text or "\\[" in text
    dollars = "$" in text and ("\\" in text or "^" in text or "_" in text) and _holds_dollar_math(text)
    if not marked and not dollars:
        return
    left = MAX_FORMULAS
    for node in [node for node in dom.nodes(root) if isinstance(node, dom.Text) and _may_hold_tex(node.data)]:
        if left and not _is_in_code(node):
            parts = _parts(node.data, dollars, left)
            left -= sum(not isinstance(part, str) for part in parts)
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


def _parts(text: str, dollars: bool, max_formulas: int) -> list[dom.Node | str]:
    """Return the text with its formulas as elements, up to a number of them."""
    parts: list[dom.Node | str] = []
    end = 0
    spans = list(islice(find_delimited(text), max_formulas))
    if dollars and not spans:
        spans = [("dollar", *match.span()) for match in islice(_DOLLAR.finditer(text), max_formulas)]
    for kind, start, stop in spans:
        width = 1 if kind == "dollar" else 2
        tex = text[start + width : stop - width].strip()
        if not tex:
            continue
        if start > end:
            parts.append(text[end:start])
        alone = len(spans) == 1 and not text[:start].strip() and not text[stop:].strip()
        parts.append(formula(tex, kind == "block" or (kind == "dollars" and (alone or "\\begin" in tex))))
        end = stop
    if end < len(text) or not parts:
        parts.append(text[end:])
    return parts


def find_delimited(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield kind, start and end of every text between TeX delimiters; takes linear time when none of them is closed."""
    closings: dict[str, int] = {}
    """The next place of each closing delimiter, so that no text is searched twice for it."""
    opening = _OPENING.search(text)
    while opening:
        start = opening.start()
        kind, closing, max_chars = _KINDS[opening[0]]
        first = start + 2 if kind == "dollars" else start + 3  # a formula has at least one character
        if closings.get(closing, -1) < first:
            found = text.find(closing, first)
            closings[closing] = found if found >= 0 else len(text)
        close = closings[closing]
        is_closed = close < len(text) and 0 < close - start - 2 <= max_chars
        if is_closed and (kind != "dollars" or text.startswith("$$", close)):
            yield kind, start, close + 2
            opening = _OPENING.search(text, close + 2)
        else:
            opening = _OPENING.search(text, start + 1)


def formula(tex: str, display: bool) -> dom.Element:
    """Return the element of a formula, on its own line or within one."""
    tag, name = ("div", "math-block") if display else ("span", "math-inline")
    return dom.element(tag, {"class": name}, tex)
