"""Compare what was read of a document with what was printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin

from pagekeep import dom, markdown
from printed.compose import Sample

NAMES = "words grams order headings levels paragraphs lists tables links code quotes notes heads".split()
"""`order` is the longest common subsequence of the words; `heads` are running heads left, per page."""
_PARTS = ("headings", "levels", "lists", "tables", "links", "code", "quotes", "notes")
Scores = dict[str, float | None]


@dataclass
class Facts:
    """What of a document is compared."""

    words: list[str]
    headings: list[str]
    levels: list[str]
    paragraphs: list[str]
    lists: list[str]
    tables: list[str]
    links: list[str]
    code: list[str]
    quotes: list[str]
    notes: list[str]


def render(text: str) -> str:
    """Return Markdown as HTML; tables in HTML, as some readers write them, stay."""
    return MarkdownIt("commonmark", {"html": True}).enable("table").use(footnote_plugin).render(text)


_RAISED = str.maketrans("", "", "¹²³⁴⁵⁶⁷⁸⁹⁰")


def _text(node: Any) -> str:
    return " ".join(dom.text_of(node).translate(_RAISED).split())


def facts(html: str) -> Facts:
    """Return what is compared, of the HTML that was printed or that was read."""
    root = dom.parse_fragment(html)
    for mark in dom.select(root, "sup, .footnote-backref"):
        dom.drop(mark)
    notes = [_text(node) for node in dom.select(root, "section.footnotes li")]
    for section in dom.select(root, "section.footnotes, hr.footnotes-sep"):
        dom.drop(section)
    headings = [node for node in dom.elements(root) if node.tag in ("h1", "h2", "h3", "h4", "h5", "h6")]
    cells = [
        f"{row}:{column}:{_text(cell)}"
        for table in dom.select(root, "table")
        for row, line in enumerate(dom.select(table, "tr"))
        for column, cell in enumerate(dom.select(line, "td, th"))
    ]
    code = [line.rstrip() for node in dom.select(root, "pre") for line in dom.text_of(node).splitlines()]
    return Facts(
        words=[*markdown.to_text(root).split(), *" ".join(notes).split()],
        headings=[_text(node) for node in headings],
        levels=[f"{node.tag}:{_text(node)}" for node in headings],
        paragraphs=[_text(node) for node in dom.select(root, "p")],
        lists=[f"{_depth(node)}:{_own_text(node)}" for node in dom.select(root, "li")],
        tables=cells,
        links=[f"{node.attr('href')}:{_text(node)}" for node in dom.select(root, "a[href]")],
        code=[line for line in code if line.strip()],
        quotes=[_text(node) for node in dom.select(root, "blockquote")],
        notes=notes,
    )


def _depth(node: Any) -> str:
    tags, parent = [], node.parent
    while parent is not None and hasattr(parent, "tag"):
        tags += [parent.tag] if parent.tag in ("ul", "ol") else []
        parent = parent.parent
    return ">".join(reversed(tags))


def _own_text(node: Any) -> str:
    copy = dom.copy(node)
    for nested in dom.select(copy, "ul, ol"):
        dom.drop(nested)
    return _text(copy)


def f1(truth: Iterable[Any], found: Iterable[Any]) -> float | None:
    """Return the F1 of two bags; `None` when the truth has nothing and nothing was found."""
    a, b = Counter(truth), Counter(found)
    if not a and not b:
        return None
    common = sum((a & b).values())
    return 2 * common / (sum(a.values()) + sum(b.values()))


def _grams(words: list[str]) -> list[tuple[str, ...]]:
    return list(zip(*(words[start:] for start in range(4)), strict=False))


def _common_subsequence(a: list[str], b: list[str]) -> int:
    """Return the length of the longest common subsequence (Hyyrö 2004: one bit for each word of the first)."""
    places: dict[str, int] = {}
    for index, word in enumerate(a):
        places[word] = places.get(word, 0) | 1 << index
    full = (1 << len(a)) - 1
    row = full
    for word in b:
        matches = row & places.get(word, 0)
        row = ((row + matches) | (row - matches)) & full
    return len(a) - row.bit_count()


def _without(words: list[str], notes: list[str]) -> list[str]:
    """Return the words without the notes: some readers put them at the end of the page, others at that of the document."""
    text = " ".join(words)
    for note in notes:
        text = text.replace(note, "", 1)
    return text.split()


def compare(one: Sample, html: str, pages: int) -> Scores:
    """Return the scores of one document."""
    truth, found = facts(one.body), facts(html)
    whole = Counter(truth.paragraphs) & Counter(found.paragraphs)
    scores = {name: f1(getattr(truth, name), getattr(found, name)) for name in ("words", *_PARTS)}
    scores["grams"] = f1(_grams(truth.words), _grams(found.words))
    a, b = _without(truth.words, one.notes), _without(found.words, one.notes)
    scores["order"] = 2 * _common_subsequence(a, b) / max(1, len(a) + len(b))
    scores["paragraphs"] = sum(whole.values()) / len(truth.paragraphs)
    scores["heads"] = " ".join(found.words).count(one.head) / max(1, pages)
    return scores


def differences(one: Sample, html: str) -> Iterable[str]:
    """Yield what is missing and what is too much, by part."""
    truth, found = facts(one.body), facts(html)
    for name in ("paragraphs", *_PARTS):
        wanted, got = Counter(getattr(truth, name)), Counter(getattr(found, name))
        for what, bag in (("missing", wanted - got), ("extra", got - wanted)):
            yield from (f"{name} {what}: {entry[:150]}" for entry in bag)


def mean(results: list[Scores], name: str) -> str:
    """Return the mean of a score over the documents that have it."""
    values = [value for one in results if (value := one.get(name)) is not None]
    return f"{sum(values) / len(values):.3f}" if values else "-"
