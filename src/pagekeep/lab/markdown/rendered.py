"""Render Markdown with markdown-it-py and read what it shows; only this module of the lab uses that package."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.dollarmath.index import math_inline_dollar
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from pagekeep import dom
from pagekeep.markdown import to_text

_DOLLARS: Final = math_inline_dollar(allow_space=False, allow_digits=False)
_CALLOUT: Final = re.compile(r"\[![\w-]+\]")
_FORMULAS: Final = ".math.inline,.math.block"


@dataclass(frozen=True, slots=True)
class Rendered:
    """A Markdown text as its renderer shows it."""

    text: str
    """All words, without footnote references and alternative texts."""
    headings: tuple[tuple[int, str], ...]
    """Level and words of each."""
    code: tuple[tuple[str, str], ...]
    """Language and text of each block."""
    tables: tuple[tuple[tuple[str, ...], ...], ...]
    """Cells by row."""
    marks: tuple[str, ...]
    """The numbers of footnote references, in reading order."""
    notes: tuple[str, ...]
    """Words of the first block of each footnote that has a reference, in order."""
    math: tuple[str, ...]
    """The TeX of each formula."""


@cache
def _renderer() -> MarkdownIt:
    renderer = (
        MarkdownIt("commonmark")
        .enable(["table", "strikethrough"])
        .use(footnote_plugin)
        .use(dollarmath_plugin, allow_space=False, allow_digits=False)
        .use(tasklists_plugin)
    )
    renderer.inline.ruler.at("math_inline", _formula)
    return renderer


def _formula(state: StateInline, silent: bool) -> bool:
    """Apply the plugin's rule, which at the start of a line mistakes the line's last character for the one before."""
    if state.pos == 0 and state.src[-1:].isdigit():
        state.src += " "
    return _DOLLARS(state, silent)


def render_tree(markdown: str) -> dom.Element:
    """Return Markdown as HTML: CommonMark with tables, strikethrough, footnotes, dollar math and task lists.

    Quotes that are callouts have the class `callout`.
    """
    renderer, shared = _renderer(), dict[str, object]()
    tokens = renderer.parse(markdown, shared)
    for quote, _, line in zip(tokens, tokens[1:], tokens[2:], strict=False):
        # By the source, not the rendered text, where an escaped `\[!note]` looks like a callout.
        if quote.type == "blockquote_open" and line.type == "inline" and _CALLOUT.match(line.content):
            quote.attrSet("class", "callout")
    return dom.parse_fragment(renderer.renderer.render(tokens, renderer.options, shared))


def raw_html(markdown: str) -> list[str]:
    """Return the raw HTML that the renderer would pass through."""
    raw: list[str] = []
    for token in _renderer().parse(markdown):
        for part in (token, *(token.children or ())):
            if part.type in ("html_block", "html_inline") and "task-list-item" not in part.content:
                raw.append(part.content)
    return raw


def read_tree(root: dom.Element) -> Rendered:
    """Return the content of a rendered tree."""
    for back in dom.select(root, "a.footnote-backref"):
        dom.drop(back)
    return Rendered(
        text=to_text(root),
        headings=tuple((int(node.tag[1]), spaced_text(node)) for node in dom.select(root, "h1,h2,h3,h4,h5,h6")),
        code=tuple(_code(node) for node in dom.select(root, "pre")),
        tables=tuple(_rows(node) for node in dom.select(root, "table")),
        marks=tuple(_reference_number(node) for node in dom.select(root, "sup.footnote-ref")),
        notes=tuple(_note(node) for node in dom.select(root, "section.footnotes li.footnote-item")),
        math=tuple(spaced_text(node) for node in dom.select(root, _FORMULAS)),
    )


def spaced_text(node: dom.Element) -> str:
    """Return the text of a node with single spaces between words."""
    return " ".join(dom.text_of(node).split())


def _code(block: dom.Element) -> tuple[str, str]:
    inner = dom.first(block, "code")
    name = (inner.attr("class") or "") if inner is not None else ""
    return name.removeprefix("language-"), dom.text_of(block).removesuffix("\n")


def _rows(table: dom.Element) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(spaced_text(cell) for cell in dom.select(row, "th,td")) for row in dom.select(table, "tr"))


def _note(item: dom.Element) -> str:
    first = dom.first(item, "p")
    return spaced_text(item if first is None else first)


def _reference_number(reference: dom.Element) -> str:
    return spaced_text(reference).strip("[]").partition(":")[0]
