"""Measure Markdown cases: `NAME.html` beside `NAME.md`, the Markdown that a careful writer would write for the page.

A reference may begin with a JSON block of metadata. Both texts are rendered and compared aspect by aspect; differences by
design (docs/markdown-cases.md) are normalised first.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pagekeep import dom
from pagekeep.lab.markdown.rendered import Rendered, read_tree, render_tree
from pagekeep.lab.measure import Extractor, pipeline_extract
from pagekeep.lab.metrics import normalise_tokens, score_words
from pagekeep.model import Page

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
