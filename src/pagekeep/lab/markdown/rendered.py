"""What a reader of Markdown sees: the seam over the Markdown renderer (markdown-it-py), which is not ours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from pagekeep import dom
from pagekeep.errors import PagekeepError
from pagekeep.markdown import to_text

try:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.dollarmath.index import math_inline_dollar
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.tasklists import tasklists_plugin
except ImportError as missing:
    raise PagekeepError(
        "Measuring Markdown needs a renderer to read it with.",
        suggestions=("Install it: pip install 'pagekeep[evaluate]'.",),
    ) from missing

_DOLLARS: Final = math_inline_dollar(allow_space=False, allow_digits=False)
_CALLOUT: Final = re.compile(r"\[![\w-]+\]")
_FORMULAS: Final = ".math.inline,.math.block"


@dataclass(frozen=True, slots=True)
class Rendered:
    """A Markdown text as its renderer shows it."""

    text: str
    """All words, without footnote marks and alternative texts."""
    headings: tuple[tuple[int, str], ...]
    """Level and words of each."""
    code: tuple[tuple[str, str], ...]
    """Language and text of each block."""
    tables: tuple[tuple[tuple[str, ...], ...], ...]
    """Cells by row."""
    marks: tuple[str, ...]
    """Footnote references in reading order, as the numbers shown."""
    notes: tuple[str, ...]
    """Words of the first block of each footnote that is referred to, in order."""
    math: tuple[str, ...]
    """The TeX of each formula."""


@cache
def _renderer() -> MarkdownIt:
    made = (
        MarkdownIt("commonmark")
        .enable(["table", "strikethrough"])
        .use(footnote_plugin)
        .use(dollarmath_plugin, allow_space=False, allow_digits=False)
        .use(tasklists_plugin)
    )
    made.inline.ruler.at("math_inline", _formula)
    return made


def _formula(state: StateInline, silent: bool) -> bool:
    """The plugin's rule, which at the beginning of a line takes the line's last character for the one before."""
    if state.pos == 0 and state.src[-1:].isdigit():
        state.src += " "
    return _DOLLARS(state, silent)


def tree_of(markdown: str) -> dom.Element:
    """The Markdown as HTML: CommonMark with tables, strikethrough, footnotes, dollar math and task lists; quotes that are
    callouts have that class."""
    renderer, shared = _renderer(), dict[str, object]()
    tokens = renderer.parse(markdown, shared)
    for quote, _, line in zip(tokens, tokens[1:], tokens[2:], strict=False):
        # Only the source tells: an escaped `\[!note]` is shown just as it would be without the backslash.
        if quote.type == "blockquote_open" and line.type == "inline" and _CALLOUT.match(line.content):
            quote.attrSet("class", "callout")
    return dom.parse_fragment(renderer.renderer.render(tokens, renderer.options, shared))


def raw_html(markdown: str) -> list[str]:
    """Raw HTML that the renderer would pass through."""
    found: list[str] = []
    for token in _renderer().parse(markdown):
        for part in (token, *(token.children or ())):
            if part.type in ("html_block", "html_inline") and "task-list-item" not in part.content:
                found.append(part.content)
    return found


def read(root: dom.Element) -> Rendered:
    """What stands in a rendered tree."""
    for back in dom.select(root, "a.footnote-backref"):
        dom.drop(back)
    return Rendered(
        text=to_text(root),
        headings=tuple((int(node.tag[1]), words_of(node)) for node in dom.select(root, "h1,h2,h3,h4,h5,h6")),
        code=tuple(_code(node) for node in dom.select(root, "pre")),
        tables=tuple(_rows(node) for node in dom.select(root, "table")),
        marks=tuple(_mark(node) for node in dom.select(root, "sup.footnote-ref")),
        notes=tuple(_note(node) for node in dom.select(root, "section.footnotes li.footnote-item")),
        math=tuple(words_of(node) for node in dom.select(root, _FORMULAS)),
    )


def words_of(node: dom.Element) -> str:
    """The words below a node, one space apart."""
    return " ".join(dom.text_of(node).split())


def _code(block: dom.Element) -> tuple[str, str]:
    inner = dom.first(block, "code")
    name = (inner.attr("class") or "") if inner is not None else ""
    return name.removeprefix("language-"), dom.text_of(block).removesuffix("\n")


def _rows(table: dom.Element) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(words_of(cell) for cell in dom.select(row, "th,td")) for row in dom.select(table, "tr"))


def _note(item: dom.Element) -> str:
    first = dom.first(item, "p")
    return words_of(item if first is None else first)


def _mark(reference: dom.Element) -> str:
    return words_of(reference).strip("[]").partition(":")[0]
