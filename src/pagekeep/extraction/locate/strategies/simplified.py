"""Level 2: places where content usually stands, tried in order of confidence, each checked before it is believed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from pagekeep import dom
from pagekeep.extraction.input import structured as structured_data
from pagekeep.extraction.locate.page_facts import Content, Measure, Reading, measure
from pagekeep.extraction.locate.strategies import embedded_state
from pagekeep.extraction.locate.survey import Survey

MIN_WORDS: Final = 100
_MIN_CHARACTERS: Final = 100
_MIN_PARAGRAPHS: Final = 2
_MAX_LINK_DENSITY: Final = 0.3
_MIN_TEXT_DENSITY: Final = 0.3
_CANDIDATES_A_TIER: Final = 12

_SEMANTIC: Final = (
    "article",
    "main",
    '[role="main"]',
    '[role="article"]',
    '[itemprop="articleBody"]',
)
_NAMED: Final = (
    ".post-content",
    ".entry-content",
    ".article-body",
    ".article-text",
    ".article-content",
    ".story-body",
    ".post-body",
    "#content",
    "#main-content",
    ".content",
)
_LITTLE: Final = 2_500
"""Characters outside links from which on a page shows its text, and its state need not be read."""
_DENSE: Final = ("main", "section", "div")


def decide(reading: Reading) -> Content | None:
    """The first candidate that passes every check."""
    for candidate in _candidates(reading):
        if _faults(reading, candidate) is None:
            return candidate
    return None


def judge(reading: Reading, measured: Measure) -> str | None:
    """Why the result is not good enough, or `None` when it is."""
    least = _fewest_words(reading)
    return None if measured.words >= least else f"{measured.words} words, under {least}"


def _fewest_words(reading: Reading) -> int:
    return MIN_WORDS if reading.bounds.min_words is None else reading.bounds.min_words


def _candidates(reading: Reading) -> Iterator[Content]:
    index_of = {id(node): index for index, node in enumerate(reading.survey.nodes)}
    yield from _selected(reading, reading.remembered, index_of)
    body = structured_data.article_body(reading.structured)
    if body and reading.scope is None:  # a rule that chose a part of the page did not choose this
        yield Content(0, {}, made=_as_paragraphs(body))
    if reading.scope is None:
        yield from _in_state(reading.survey)
    yield from _selected(reading, (*_SEMANTIC, *_NAMED), index_of)
    yield from _densest_first(reading)


def _in_state(survey: Survey) -> Iterator[Content]:
    """The article in the page's state, where the tree says little beside it."""
    if survey.chars[0] - survey.linked[0] < _LITTLE:
        made = embedded_state.body(_page(survey.nodes[0]))
        if made is not None and len(dom.text_of(made)) > 2 * survey.chars[0]:
            yield Content(0, {}, made=made)


def _page(node: dom.Node) -> dom.Node:
    """The root of the tree: a script may stand in the head."""
    while node.parent is not None:
        node = node.parent
    return node


def _selected(reading: Reading, selectors: Iterable[str], index_of: dict[int, int]) -> Iterator[Content]:
    """What each selector finds, in the order of the selectors."""
    for selector in selectors:
        try:
            nodes = dom.select(reading.survey.nodes[0], selector)
        except dom.SelectorError:
            continue  # remembered from who knows when
        found = [index_of[id(node)] for node in nodes if id(node) in index_of]
        for content in _largest_first(reading, found):
            yield replace(content, selector=selector)


def _as_paragraphs(text: str) -> dom.Element:
    """Text that structured data carries, a paragraph a line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return dom.element("div", None, *[dom.element("p", None, line) for line in lines])


def _largest_first(reading: Reading, found: list[int]) -> Iterator[Content]:
    chars = reading.survey.chars
    for index in sorted(found, key=lambda index: (-chars[index], index))[:_CANDIDATES_A_TIER]:
        yield Content(index, reading.dropped)


def _densest_first(reading: Reading) -> Iterator[Content]:
    """Blocks by the share of text in their HTML, the densest first."""
    survey = reading.survey
    markup = _markup_lengths(survey)
    density = {
        index: survey.chars[index] / (survey.chars[index] + markup[index])
        for index, tag in enumerate(survey.tag)
        if tag in _DENSE and survey.chars[index] > _MIN_CHARACTERS and not reading.dead[index]
    }
    dense = [index for index, value in density.items() if value >= _MIN_TEXT_DENSITY]
    for index in sorted(dense, key=lambda index: (-density[index], index))[: 4 * _CANDIDATES_A_TIER]:
        yield Content(index, reading.dropped)


def _markup_lengths(survey: Survey) -> list[int]:
    """Characters of tags and attributes in each subtree."""
    lengths = [0] * len(survey.nodes)
    for index in range(len(lengths) - 1, -1, -1):
        node = survey.nodes[index]
        if isinstance(node, dom.Element):
            attributes = dom.attributes(node)
            lengths[index] += (
                2 * len(node.tag) + 5 + sum(len(name) + len(value) + 4 for name, value in attributes.items())
            )
        if index:
            lengths[survey.parent[index]] += lengths[index]
    return lengths


def _faults(reading: Reading, candidate: Content) -> str | None:
    """What is wrong with a candidate, or `None`."""
    measured = measure(reading, candidate)
    if measured.chars <= _MIN_CHARACTERS:
        return f"only {measured.chars} characters"
    if measured.words < _fewest_words(reading):
        return f"{measured.words} words"
    if (
        measured.paragraphs <= _MIN_PARAGRAPHS
        and candidate.made is None
        and reading.survey.tag[candidate.root] != "article"
    ):
        return f"{measured.paragraphs} paragraphs"
    if measured.link_density >= (reading.bounds.max_link_density or _MAX_LINK_DENSITY):
        return f"{measured.link_density:.0%} of its text stands in links"
    if not _has_indicator(reading):
        return "no date, author or headline"
    return None


def _has_indicator(reading: Reading) -> bool:
    """A date, an author or a headline: what articles have and menus have not."""
    metadata = reading.metadata
    return bool(metadata.author or metadata.published or metadata.title or "h1" in reading.survey.tag)
