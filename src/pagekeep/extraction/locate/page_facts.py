"""What every level of the chain knows about the page, worked out once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pagekeep import dom
from pagekeep.extraction.input.structured import Structured
from pagekeep.extraction.locate import boilerplate, off_topic_sections, prose, teasers, threads
from pagekeep.extraction.locate.boilerplate import Dropped
from pagekeep.extraction.locate.profiles import Profile
from pagekeep.extraction.locate.survey import TEXT, Survey
from pagekeep.model import Metadata
from pagekeep.rules.rule import Thresholds
from pagekeep.text import count_words

SENTENCE = 40
"""A block with this many characters outside links is taken for prose."""

ScopeKind = Literal["article", "wrapper"]
"""What a rule says the surveyed part is: the content itself, or what the content is found in."""

_NO_BOUNDS = Thresholds()


@dataclass(frozen=True, slots=True)
class Reading:
    """The page as the levels see it. Levels decide; none of them changes the tree."""

    survey: Survey
    structured: Structured
    metadata: Metadata
    profile: Profile
    own: list[int]
    """Characters outside links in each block itself."""
    voting: list[int]
    """The same where the block has a say in where the content is; characters in links too, where cards are the content."""
    dropped: Dropped
    """What is not content, whichever level wins."""
    dead: bytearray
    """One byte a node, set where the node is dropped."""
    remembered: tuple[str, ...] = ()
    """Selectors that found the content on this domain before."""
    scope: ScopeKind | None = None
    """Set when a rule chose the part of the page that was surveyed."""
    bounds: Thresholds = _NO_BOUNDS
    """What a rule says a good result looks like here."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a level would keep: everything below `root` but the dropped subtrees, or an element it made itself."""

    root: int
    dropped: Dropped
    made: dom.Element | None = None
    selector: str | None = None
    """The selector that led to it."""


def read(
    survey: Survey,
    structured: Structured,
    metadata: Metadata,
    profile: Profile,
    remembered: tuple[str, ...] = (),
    scope: ScopeKind | None = None,
    bounds: Thresholds = _NO_BOUNDS,
) -> Reading:
    """Measure the page's blocks and find its boilerplate."""
    own = prose.own_text(survey)
    if profile.is_thread:
        profile = threads.settle(survey, profile)
    voting = teasers.silence(survey, own, SENTENCE) if profile.ignores_teasers else own
    is_beside_teasers = voting is not own
    sentences = prose.sum_blocks(survey, voting, SENTENCE)
    text = sentences
    if profile.links_count:  # on a page of cards the sentences stand in its dialogs, and the cards have none
        voting = prose.own_text(survey, links=True)
        text = prose.sum_blocks(survey, voting, 1)
    dropped = boilerplate.find(survey, sentences, text, profile)
    if profile.is_product:
        dropped |= off_topic_sections.elsewhere(survey, 0, dropped)
    if is_beside_teasers:
        dropped |= teasers.headed(survey)
    dead = boilerplate.mark(survey, dropped)
    return Reading(survey, structured, metadata, profile, own, voting, dropped, dead, remembered, scope, bounds)


def kept(survey: Survey, content: Content) -> Iterator[int]:
    """Indices of the nodes that the content keeps."""
    index, end, ends, dropped = content.root, survey.end[content.root], survey.end, content.dropped
    while index < end:
        if index in dropped:
            index = ends[index]
        else:
            yield index
            index += 1


@dataclass(frozen=True, slots=True)
class Measure:
    """How much a decision would keep."""

    words: int
    chars: int
    linked: int
    paragraphs: int

    @property
    def link_density(self) -> float:
        """Share of the text that stands in links."""
        return self.linked / self.chars if self.chars else 0.0


def measure(reading: Reading, content: Content) -> Measure:
    """Count what a decision would keep, without touching the tree."""
    if content.made is not None:
        text = dom.text_of(content.made)
        return Measure(count_words(text), len(text), 0, len(content.made.children))
    survey = reading.survey
    tags, chars, linked, nodes, own = survey.tag, survey.chars, survey.linked, survey.nodes, reading.own
    texts: list[str] = []
    total = in_links = paragraphs = 0
    for index in kept(survey, content):
        if tags[index] == TEXT:
            total += chars[index]
            in_links += linked[index]
            texts.append(nodes[index].data)  # type: ignore[attr-defined]
        elif own[index] >= SENTENCE:
            paragraphs += 1
    text = " ".join(texts)
    return Measure(len(text.split()) if text.isascii() else count_words(text), total, in_links, paragraphs)
