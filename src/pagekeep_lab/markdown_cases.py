"""Measure Markdown: against what a careful writer would write, and whether it has the content of the clean HTML.

A case is `NAME.html` beside `NAME.md`, a reference that may begin with a JSON block of metadata. Both texts are rendered
with markdown-it-py, which only this module of the lab uses, and compared aspect by aspect; differences by design
(docs/markdown-cases.md) are normalised first."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.dollarmath.index import math_inline_dollar
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from pagekeep import dom
from pagekeep.markdown import to_text
from pagekeep.markdown.inline.elements import write_subscript, write_superscript
from pagekeep.markdown.inline.escape import clean
from pagekeep.model import Page
from pagekeep_lab.evaluate import Extractor, pipeline_extract
from pagekeep_lab.scores import normalise_tokens, score_words

ASPECTS: Final = ("words", "code", "tables", "footnotes", "math", "headings")
MIN_F1: Final = 0.97
DEFAULT_URL: Final = "https://example.com/page"
"""The address of a page that does not name its own."""

_URL: Final = re.compile(rb'<!--\s*\{\s*"url"\s*:\s*"([^"]{1,2000})"')
_METADATA: Final = re.compile(r"\A```json\n(.*?)\n```\n", re.S)
_SCRIPT: Final = re.compile("[\u00b2\u00b3\u00b9\u2070-\u209c]+")
_UNSPACED_SCRIPT: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Chinese and Japanese have no spaces between words: each character is compared as a word."""
_TYPOGRAPHY: Final = re.compile(r"\\left(?![a-zA-Z])|\\right(?![a-zA-Z])|\\mathrm(?![a-zA-Z])|\\[,;:! ]|[{}]")
"""TeX that changes how a formula looks but not what it means."""
_CALLOUT: Final = re.compile(r"^\[!([\w-]+)\][+-]? ?(.*)$", re.M)


@dataclass(frozen=True, slots=True)
class CaseScore:
    """How well a page's Markdown agrees with its reference."""

    name: str
    f1: float
    wrong: tuple[str, ...]
    """The aspects that differ."""
    error: str = ""
    ours: str = ""
    """The extracted Markdown."""
    reference: str = ""


def run_cases(folder: Path, limit: int | None = None, extractor: Extractor = pipeline_extract) -> list[CaseScore]:
    """Score every page that has a Markdown file of its name, in name order."""
    sources = [path for path in sorted(folder.glob("*.html")) if path.with_suffix(".md").is_file()]
    return [score_case(path, extractor) for path in sources[:limit]]


def score_case(source: Path, extractor: Extractor = pipeline_extract) -> CaseScore:
    """Extract one page and compare it with its reference."""
    html = source.read_bytes()
    reference, metadata = split_reference(source.with_suffix(".md").read_text("utf-8"))
    address = _URL.match(html)
    try:
        page = extractor(html, address.group(1).decode() if address else DEFAULT_URL)
    except Exception as error:  # an extractor that raises must not end the measurement
        return CaseScore(source.stem, 0.0, ASPECTS, type(error).__name__, "", reference)
    titles = (metadata.get("title") or "", page.metadata.title or "")
    ours, theirs = _render_ours(page, titles), normalise(render_tree(reference), titles)
    f1 = score_words(ours.text, theirs.text).f1
    return CaseScore(source.stem, f1, tuple(find_differing_aspects(ours, theirs, f1)), "", page.markdown, reference)


def split_reference(text: str) -> tuple[str, dict[str, Any]]:
    """Return the Markdown, and the metadata in the block above it."""
    block = _METADATA.match(text.replace("\r\n", "\n"))
    if block is None:
        return text, {}
    try:
        metadata = json.loads(block.group(1))
    except ValueError:
        return text, {}
    return text.replace("\r\n", "\n")[block.end() :], metadata if isinstance(metadata, dict) else {}


def find_differing_aspects(ours: Rendered, theirs: Rendered, f1: float) -> Iterable[str]:
    if f1 <= MIN_F1:
        yield "words"
    if ours.code != theirs.code:
        yield "code"
    if ours.tables != theirs.tables:
        yield "tables"
    if (ours.marks, ours.notes) != (theirs.marks, theirs.notes):
        yield "footnotes"
    if ours.math != theirs.math:
        yield "math"
    if ours.headings != theirs.headings:
        yield "headings"


# Differences by design


def _render_ours(page: Page, titles: Sequence[str]) -> Rendered:
    """Render the extracted Markdown without the names of embedded services, which references leave out."""
    root = render_tree(page.markdown)
    embeds = {link.attr("href") for link in dom.select(dom.parse_fragment(page.html), "a.embed")}
    for link in dom.select(root, "a"):
        if link.attr("href") in embeds:
            dom.drop(link)
    return normalise(root, titles)


def normalise(root: dom.Element, titles: Sequence[str]) -> Rendered:
    """Return the tree's content without the page's title, formulas among the words, and callout titles that repeat the kind."""
    known = [normalise_tokens(title) for title in titles if title]
    for heading in dom.select(root, "h1,h2,h3")[:1]:
        if normalise_tokens(dom.text_of(heading)) in known:
            dom.drop(heading)
    for line in dom.select(root, "blockquote > p:first-child"):
        first = line.children[0] if line.children else None
        if isinstance(first, dom.Text):
            dom.replace(first, _CALLOUT.sub(_plain_callout, first.data, count=1))
    math = read_tree(root).math
    for formula in dom.select(root, ".math.inline,.math.block"):
        dom.replace(formula, " ")
    rendered = read_tree(root)
    return replace(
        rendered,
        text=_UNSPACED_SCRIPT.sub(r" \g<0> ", _SCRIPT.sub(_plain_script, rendered.text)),
        headings=tuple((max(2, level), _plain(words)) for level, words in rendered.headings),
        tables=tuple(tuple(tuple(map(_plain, row)) for row in table if any(row)) for table in rendered.tables),
        notes=tuple(map(_plain, rendered.notes)),
        math=tuple(_TYPOGRAPHY.sub("", "".join(formula.split())) for formula in math),
    )


def _plain(words: str) -> str:
    """Return words without spaces, with raised and lowered digits as plain ones."""
    return "".join(_SCRIPT.sub(_plain_script, words).split())


def _plain_script(match: re.Match[str]) -> str:
    return f" {unicodedata.normalize('NFKC', match.group())} "


def _plain_callout(match: re.Match[str]) -> str:
    kind, title = match.group(1).lower(), match.group(2).strip()
    return f"[!{kind}]" if title.lower() == kind else f"[!{kind}] {title}"


def format_scores(scores: Sequence[CaseScore]) -> list[list[str]]:
    """Return the number of right cases by aspect, the header first."""
    right = [sum(aspect not in score.wrong for score in scores) for aspect in ASPECTS]
    whole = sum(not score.wrong for score in scores)
    return [["cases", "all right", *ASPECTS], [str(len(scores)), str(whole), *map(str, right)]]


def list_differing(scores: Sequence[CaseScore]) -> list[str]:
    """Return a line for each case that differs."""
    return [
        f"{score.name}: {', '.join(score.wrong)}" + (f" (F1 {score.f1:.3f})" if "words" in score.wrong else "")
        for score in scores
        if score.wrong
    ]


_WORD: Final = re.compile(r"[^\W_]+")
_CALLOUT_START: Final = re.compile(r"\A\[!([\w-]+)\] ?")
_FORBIDDEN: Final = re.compile(r"\\?\$|\\+$")
_MATH: Final = ".math-inline,.math-block,.math.inline,.math.block"
_CELLS: Final = frozenset(("td", "th"))
_NOT_ITEM_PARENTS: Final = _CELLS | {"section"}
_ITEM_WORDS: Final = 6


def find_differences(html: str, markdown: str) -> list[str]:
    """Return a sentence for each aspect in which a page's clean HTML and its Markdown differ."""
    before, after = dom.parse_fragment(html), render_tree(markdown)
    for back in dom.select(after, "a.footnote-backref"):
        dom.drop(back)
    differences = [f"raw HTML: {part[:60]!r}" for part in raw_html(markdown)]
    differences += _first_difference("code", _code_texts(before), _code_texts(after))
    differences += _first_difference("math", _math(before), _math(after))
    _prepare(before)
    _prepare_rendered(after)
    differences += _first_difference("headings", _headings(before), _headings(after))
    differences += _first_difference("tables", _tables(before), _tables(after))
    differences += _first_difference("items", _items(before), _items(after))
    differences += _first_difference(
        "words", _words(to_text(before, captions=True)), _words(to_text(after, captions=True))
    )
    return differences


def _first_difference(aspect: str, before: list[str], after: list[str]) -> Iterator[str]:
    """Yield a sentence about the first difference, if any."""
    if before == after:
        return
    for place, (old, new) in enumerate(zip(before, after, strict=False)):
        if old != new:
            context = " ".join(before[max(0, place - 4) : place])
            yield f"{aspect} differ after {context[-60:]!r}: {old[:60]!r} became {new[:60]!r}"
            return
    longer, what = (before, "lost") if len(before) > len(after) else (after, "added")
    yield f"{aspect}: {abs(len(before) - len(after))} {what}, first {longer[min(len(before), len(after))][:60]!r}"


def _code_texts(root: dom.Element) -> list[str]:
    texts = (clean(dom.text_of(block)).removesuffix("\n") for block in dom.select(root, "pre"))
    return [text for text in texts if text.strip()]


def _math(root: dom.Element) -> list[str]:
    """Return the formulas without what Markdown does not allow in them or at their ends."""
    formulas = (_FORBIDDEN.sub("", "".join(clean(dom.text_of(node)).split())) for node in dom.select(root, _MATH))
    return sorted(tex for tex in formulas if tex)


# Differences by design


def _prepare(root: dom.Element) -> None:
    """Reduce the clean tree to what Markdown can show: no formulas, raised and lowered text as Unicode characters."""
    for node in dom.select(root, _MATH):
        dom.replace(node, " ")
    for node in dom.select(root, "sub,sup:not(.footnote-ref)"):
        _write_script(node)
    _list_unreferred_notes(root)
    for node in dom.select(root, "rt,q"):  # in brackets and quotation marks
        dom.replace(node, " ", *node.children, " ")


def _list_unreferred_notes(root: dom.Element) -> None:
    """Turn notes without a reference, which a renderer would not show, into items of a plain list."""
    known = {f"#{note.attr('id')}" for note in dom.select(root, "section.footnotes li[id]")}
    referred = {link.attr("href") for link in dom.select(root, "sup.footnote-ref a")}
    for link in dom.select(root, "sup.footnote-ref a"):
        if link.attr("href") not in known:  # a reference without a note becomes its number
            dom.replace(link.parent or link, link)
    for section in dom.select(root, "section.footnotes"):
        strays = [note for note in dom.select(section, "li[id]") if f"#{note.attr('id')}" not in referred]
        if strays:
            dom.add_before(section, dom.element("ul", None, *strays))


def _write_script(node: dom.Element) -> None:
    beside, inner = node.previous_sibling, node.children[0] if len(node.children) == 1 else None
    before = beside.data[-1:] if isinstance(beside, dom.Text) else ""
    if isinstance(inner, dom.Text):
        write = write_superscript if node.tag == "sup" else write_subscript
        dom.replace(node, write(" ".join(inner.data.split()), before) or inner.data)


def _prepare_rendered(root: dom.Element) -> None:
    for node in dom.select(root, _MATH):
        dom.replace(node, " ")
    for line in dom.select(root, "blockquote.callout > p:first-child"):
        first = line.children[0] if line.children else None
        if isinstance(first, dom.Text) and _CALLOUT_START.match(first.data):
            dom.replace(first, _CALLOUT_START.sub("", first.data))


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text))


def _headings(root: dom.Element) -> list[str]:
    """Return level and words of each heading; a heading in a table cell becomes text."""
    nodes = [node for node in dom.select(root, "h1,h2,h3,h4,h5,h6") if not _is_in(node, _CELLS)]
    headings = ((node.tag, _words(to_text(node, captions=True))) for node in nodes)
    return [f"{tag} {' '.join(words)}" for tag, words in headings if words]


def _tables(root: dom.Element) -> list[str]:
    """Return the cells of every row that are not empty."""
    rows: list[str] = []
    for table in dom.select(root, "table"):
        if dom.first(table, "pre,table") is not None:
            continue  # Markdown has these cell by cell
        for row in dom.select(table, "tr"):
            cells = [" ".join(_words(to_text(cell, captions=True))) for cell in dom.select(row, "td,th")]
            filled = [cell for cell in cells if cell]
            if filled:
                rows.append(" | ".join(filled))
    return rows


def _items(root: dom.Element) -> list[str]:
    """Return the first words of each list item and definition; those in a table cell are only words."""
    items = (
        _words(to_text(item, captions=True))[:_ITEM_WORDS]
        for item in dom.select(root, "li,dd")
        if not _is_in(item, _NOT_ITEM_PARENTS)
    )
    return [" ".join(words) for words in items if words]


def _is_in(node: dom.Element, kinds: frozenset[str]) -> bool:
    above = node.parent
    while isinstance(above, dom.Element):
        if above.tag in kinds:
            return True
        above = above.parent
    return False


_DOLLARS: Final = math_inline_dollar(allow_space=False, allow_digits=False)
_CALLOUT_MARK: Final = re.compile(r"\[![\w-]+\]")
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
        if quote.type == "blockquote_open" and line.type == "inline" and _CALLOUT_MARK.match(line.content):
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
        code=tuple(_code_block(node) for node in dom.select(root, "pre")),
        tables=tuple(_rows(node) for node in dom.select(root, "table")),
        marks=tuple(_reference_number(node) for node in dom.select(root, "sup.footnote-ref")),
        notes=tuple(_note(node) for node in dom.select(root, "section.footnotes li.footnote-item")),
        math=tuple(spaced_text(node) for node in dom.select(root, _FORMULAS)),
    )


def spaced_text(node: dom.Element) -> str:
    """Return the text of a node with single spaces between words."""
    return " ".join(dom.text_of(node).split())


def _code_block(block: dom.Element) -> tuple[str, str]:
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
