"""Formulas typed into the text as TeX between delimiters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from pagekeep import dom
from pagekeep.extraction.clean.state import CleanState
from pagekeep.extraction.clean.vocabulary import ancestors, fill, is_tag
from pagekeep.text import compile_lazily

_OPENING: Final = compile_lazily(
    r"\\\(|\\\[|\$\$|\\begin\{(?P<name>equation|align|alignat|gather|multline|eqnarray|displaymath)(?P<star>\*?)\}"
)
_KINDS: Final = {"\\(": ("inline", "\\)", 2_000), "\\[": ("block", "\\]", 4_000), "$$": ("dollars", "$", 4_000)}
"""By opening delimiter: the kind of formula, what closes it, and the most characters in it."""
_MAX_ENVIRONMENT_CHARS: Final = 8_000
_WIDTHS: Final = {"inline": 2, "block": 2, "dollars": 2, "dollar": 1, "environment": 0}
"""Characters of the delimiters, which are left out; those of an environment are part of the formula."""
_BLOCKS: Final = ("$$", "\\[", "\\begin{")
Span = tuple[str, int, int]
"""Kind, start and end of a formula in a text."""
_DOLLAR: Final = compile_lazily(r"\$(?<![\\$\w]\$)(?P<dollar>[^\s$](?:[^$\n]{0,300}?[^\s$\\])?)\$(?![\d$])")
_SURELY_TEX: Final = compile_lazily(r"\\[a-zA-Z]{2,}|[\^_]\{|\w[\^_]\w")
_NOT_TEXT: Final = frozenset(("pre", "code", "kbd", "script", "style", "textarea", "samp", "tt"))
_MAX_CODE_DEPTH: Final = 8
"""Boxes around a text that are searched for code."""
MAX_FORMULAS: Final = 20_000
"""Formulas on a page; the rest stays as typed. Each takes about 15 KB of memory while the page is cleaned, and a page of 2 MB
can have 500,000."""


def mark_typed_formulas(state: CleanState) -> None:
    """Turn TeX typed between `$$`, `\\(` or `\\[` into formulas; between single dollars if one is surely TeX."""
    root, text = state.root, dom.text_of(state.root)
    marked = "$$" in text or "\\(" in text or "\\[" in text or "\\begin{" in text
    dollars = "$" in text and ("\\" in text or "^" in text or "_" in text) and _holds_dollar_math(text)
    if not marked and not dollars:
        return
    left = MAX_FORMULAS
    for node in [node for node in dom.nodes(root) if isinstance(node, dom.Text) and _may_hold_tex(node.data)]:
        if left and node.parent is not None and not _is_in_code(node):
            if _join_lines(node):
                left -= 1
                continue
            parts = _parts(node.data, dollars, left)
            left -= sum(not isinstance(part, str) for part in parts)
            if len(parts) > 1 or not isinstance(parts[0], str):
                dom.replace(node, *parts)


def _holds_dollar_math(text: str) -> bool:
    """Return whether some text between single dollars is surely TeX; only then the rest is taken for TeX."""
    return any(_SURELY_TEX.search(match["dollar"]) for match in _DOLLAR.finditer(text))


def _may_hold_tex(text: str) -> bool:
    return "$" in text or "\\(" in text or "\\[" in text or "\\begin{" in text


def _is_in_code(node: dom.Node) -> bool:
    around = ancestors(node, _MAX_CODE_DEPTH)
    return any(above.tag in _NOT_TEXT or above.attr("class") in ("math-inline", "math-block") for above in around)


def _parts(text: str, dollars: bool, max_formulas: int) -> list[dom.Node | str]:
    """Return the text with its formulas as elements, up to a number of them."""
    parts: list[dom.Node | str] = []
    end = 0
    spans = list(islice(find_delimited(text), max_formulas))
    if dollars:
        spans = _add_dollars(text, spans)[:max_formulas]
    for kind, start, stop in spans:
        width = _WIDTHS[kind]
        tex = text[start + width : stop - width].strip()
        if not tex:
            continue
        if start > end:
            parts.append(text[end:start])
        alone = len(spans) == 1 and not text[:start].strip() and not text[stop:].strip()
        is_block = kind in ("block", "environment") or (kind == "dollars" and (alone or "\\begin" in tex))
        parts.append(formula(tex, is_block))
        end = stop
    if end < len(text) or not parts:
        parts.append(text[end:])
    return parts


def _add_dollars(text: str, spans: list[Span]) -> list[Span]:
    """Return the formulas with those between single dollars in the text between them."""
    found: list[Span] = []
    end = 0
    for span in (*spans, ("", len(text), len(text))):
        if "$" in text[end : span[1]]:
            found += [("dollar", *match.span()) for match in _DOLLAR.finditer(text, end, span[1])]
        if span[0]:
            found.append(span)
        end = span[2]
    return found


def _join_lines(node: dom.Text) -> bool:
    """Replace the lines of a paragraph that is one formula, with line breaks in it, by the formula."""
    box = node.parent
    if not isinstance(box, dom.Element) or box.tag not in ("p", "div") or not node.data.lstrip().startswith(_BLOCKS):
        return False
    if len(box.children) < 2 or not all(isinstance(part, dom.Text) or is_tag(part, "br") for part in box.children):
        return False
    text = "".join("\n" if is_tag(part, "br") else dom.text_of(part) for part in box.children).strip()
    kind, start, stop = next(find_delimited(text), ("", 0, 0))
    if start or stop != len(text) or not kind:
        return False
    width = _WIDTHS[kind]
    lines = [line.strip() for line in text[width : stop - width].split("\n")]
    fill(box, formula("\n".join(line for line in lines if line), display=True))
    return True


def find_delimited(text: str) -> Iterator[Span]:
    """Yield kind, start and end of every text between TeX delimiters; takes linear time when none of them is closed."""
    closings: dict[str, int] = {}
    """The next place of each closing delimiter, so that no text is searched twice for it."""
    opening = _OPENING.search(text)
    while opening:
        start = opening.start()
        kind, closing, max_chars = _kind(opening)
        first = start + 2 if kind == "dollars" else opening.end() + 1  # a formula has at least one character
        if closings.get(closing, -1) < first:
            found = text.find(closing, first)
            closings[closing] = found if found >= 0 else len(text)
        close = closings[closing]
        is_closed = close < len(text) and 0 < close - start - 2 <= max_chars
        if is_closed and (kind != "dollars" or text.startswith("$$", close)):
            end = close + (2 if kind == "dollars" else len(closing))
            yield kind, start, end
            opening = _OPENING.search(text, end)
        else:
            opening = _OPENING.search(text, start + 1)


def _kind(opening: re.Match[str]) -> tuple[str, str, int]:
    """Return the kind of formula, what closes it, and the most characters in it."""
    if name := opening["name"]:
        return "environment", f"\\end{{{name}{opening['star']}}}", _MAX_ENVIRONMENT_CHARS
    return _KINDS[opening[0]]


def formula(tex: str, display: bool) -> dom.Element:
    """Return the element of a formula, on its own line or within one."""
    tag, name = ("div", "math-block") if display else ("span", "math-inline")
    return dom.element(tag, {"class": name}, tex)
