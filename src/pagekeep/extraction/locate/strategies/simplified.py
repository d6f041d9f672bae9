"""The strategy `simplified`: usual places of content, in order of confidence, each checked before it is accepted."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from pagekeep import dom
from pagekeep.extraction.input import structured as structured_data
from pagekeep.extraction.locate.page_facts import Content, Measure, PageFacts, measure
from pagekeep.extraction.locate.strategies import embedded_state, react_stream
from pagekeep.extraction.locate.survey import Survey
from pagekeep.text import number_of

# The checks of a candidate, as the design of the fallback chain states them.
MIN_WORDS: Final = 100
"""Words of a candidate, and of the result."""
_MIN_CHARS: Final = 100
"""Characters that a candidate must exceed."""
_MIN_PARAGRAPHS: Final = 2
"""Paragraphs that a candidate other than an `article` must exceed."""
_MAX_LINK_DENSITY: Final = 0.3
"""Share of text in links that a candidate must stay below."""
_MIN_TEXT_DENSITY: Final = 0.3
"""Share of text in its HTML that a block needs to be tried for its density."""

# Bounds on work, so that a page with thousands of candidates stays cheap.
_MAX_CANDIDATES: Final = 12
"""Candidates tried per selector, the largest first."""
_MAX_DENSE_CANDIDATES: Final = 4 * _MAX_CANDIDATES
"""Candidates tried for their density, the densest first."""

_TAG_CHARS: Final = 5
"""Characters of a pair of tags beside the two names: `<></>`."""
_ATTRIBUTE_CHARS: Final = 4
"""Characters of an attribute beside its name and value: ` =""`."""

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
_DENSE_TAGS: Final = ("main", "section", "div")
_MAX_SHELL_CHARS: Final = 2_500
"""Characters outside links from which on a page shows its text itself, so that its embedded state is not read."""
_MIN_STATE_RATIO: Final = 2
"""How many times the text of the page the text in its state must have to be more than a part of what is shown."""


def locate(facts: PageFacts) -> Content | None:
    """Return the first candidate that passes every check."""
    return next((candidate for candidate in _candidates(facts) if _find_fault(facts, candidate) is None), None)


def judge(facts: PageFacts, measured: Measure) -> str | None:
    """Return why the result is not good enough, or `None` when it is."""
    min_words = _min_words(facts)
    return None if measured.words >= min_words else f"{number_of(measured.words, 'word')}, under {min_words}"


def _min_words(facts: PageFacts) -> int:
    return MIN_WORDS if facts.bounds.min_words is None else facts.bounds.min_words


def _candidates(facts: PageFacts) -> Iterator[Content]:
    yield from _select(facts, facts.selectors)
    if facts.scope is None:  # where a rule chose a part of the page, only that part counts
        body = structured_data.article_body(facts.structured)
        if body:
            yield Content(0, {}, made=embedded_state.make_paragraphs(body))
        yield from _read_state(facts.survey)
    yield from _select(facts, (*_SEMANTIC, *_NAMED))
    yield from _densest_first(facts)


def _read_state(survey: Survey) -> Iterator[Content]:
    """Yield the article in the page's embedded state, where the page itself shows little."""
    if survey.chars[0] - survey.linked[0] < _MAX_SHELL_CHARS:
        document = _find_document(survey.nodes[0])
        for find_body in (embedded_state.find_body, react_stream.find_body):
            made = find_body(document)
            if made is not None and len(dom.text_of(made)) > _MIN_STATE_RATIO * survey.chars[0]:
                yield Content(0, {}, made=made)


def _find_document(node: dom.Node) -> dom.Node:
    """Return the root of the tree: a script may be in the head."""
    while node.parent is not None:
        node = node.parent
    return node


def _select(facts: PageFacts, selectors: Iterable[str]) -> Iterator[Content]:
    """Yield what each selector finds, in the order of the selectors."""
    for selector in selectors:
        indices = list(facts.survey.find_nodes(dom.select(facts.survey.nodes[0], selector)).values())
        for content in _largest_first(facts, indices):
            yield replace(content, selector=selector)


def _largest_first(facts: PageFacts, indices: list[int]) -> Iterator[Content]:
    chars = facts.survey.chars
    for index in sorted(indices, key=lambda index: (-chars[index], index))[:_MAX_CANDIDATES]:
        yield Content(index, facts.excluded)


def _densest_first(facts: PageFacts) -> Iterator[Content]:
    """Yield blocks by the share of text in their HTML, the densest first."""
    survey = facts.survey
    facts.check_time()
    blocks = [
        index for index in survey.find_tags(*_DENSE_TAGS) if survey.chars[index] > _MIN_CHARS and not facts.dead[index]
    ]
    if not any(_has_paragraphs(facts, index) for index in blocks):  # else none can pass, whatever its density is
        return
    markup = _measure_markup(survey)
    facts.check_time()
    density = {index: survey.chars[index] / (survey.chars[index] + markup[index]) for index in blocks}
    dense = [index for index, value in density.items() if value >= _MIN_TEXT_DENSITY]
    for index in sorted(dense, key=lambda index: (-density[index], index))[:_MAX_DENSE_CANDIDATES]:
        yield Content(index, facts.excluded)


def _has_paragraphs(facts: PageFacts, index: int) -> bool:
    """Return whether a block has enough paragraphs, those that are excluded too."""
    first = bisect_left(facts.sentences, index)
    return bisect_left(facts.sentences, facts.survey.end[index]) - first > _MIN_PARAGRAPHS


def _measure_markup(survey: Survey) -> list[int]:
    """Count the characters of tags and attributes in each subtree."""
    lengths = [0] * len(survey.nodes)
    for index in range(len(lengths) - 1, -1, -1):
        node = survey.nodes[index]
        if isinstance(node, dom.Element):
            attributes = dom.attributes(node)
            lengths[index] += 2 * len(node.tag) + _TAG_CHARS
            lengths[index] += sum(len(name) + len(value) + _ATTRIBUTE_CHARS for name, value in attributes.items())
        if index:
            lengths[survey.parent[index]] += lengths[index]
    return lengths


def _find_fault(facts: PageFacts, candidate: Content) -> str | None:
    """Return what is wrong with a candidate, or `None`."""
    measured = measure(facts, candidate)
    if measured.chars <= _MIN_CHARS:
        return f"only {measured.chars} characters"
    if measured.words < _min_words(facts):
        return f"{measured.words} words"
    if (
        measured.paragraphs <= _MIN_PARAGRAPHS
        and candidate.made is None
        and facts.survey.tag[candidate.root] != "article"
    ):
        return f"{measured.paragraphs} paragraphs"
    if measured.link_density >= (facts.bounds.max_link_density or _MAX_LINK_DENSITY):
        return f"{measured.link_density:.0%} of its text is in links"
    if not _has_indicator(facts):
        return "no date, author or headline"
    return None


def _has_indicator(facts: PageFacts) -> bool:
    """Return whether the page has a date, an author or a headline, as articles do."""
    metadata = facts.metadata
    return bool(metadata.author or metadata.published or metadata.title or "h1" in facts.survey.places)
