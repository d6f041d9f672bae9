"""Level 1: the innermost element that holds most of the page's prose, without what is boilerplate in it.

In the spirit of Arc90 and Mozilla's Readability, paragraphs vote for the elements around them; but votes are summed over
whole subtrees on flat arrays and the winner is the deepest element that keeps its share, so no tree is walked twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pagekeep.extraction.input import urls
from pagekeep.extraction.locate import prose, threads
from pagekeep.extraction.locate.boilerplate import Dropped
from pagekeep.extraction.locate.page_facts import Content, Measure, Reading
from pagekeep.extraction.locate.strategies import opening
from pagekeep.extraction.prune import blocks, datelines, lone_headings, lone_links, quotations, stray_lines

MIN_WORDS: Final = 100
MIN_WORDS_OF_A_SHORT_PAGE: Final = 20
MIN_WORDS_OF_A_CHOSEN_PART: Final = 1
"""Where a rule says what the article is, its length is nobody's business."""
_SHORT: Final = 600
"""With fewer characters in paragraphs a page is short: then its lines vote too, and hardly any may be left out."""
_LINE: Final = 15
_SHORT_SHARE: Final = 0.95
_NEVER: Final = 1_000_000
"""More links than a page has."""

# A container of the content is never one of these: climb to what holds them.
_PARTS: Final = frozenset("p li td th tr tbody thead ul ol blockquote table dl dd dt pre figure h1 h2 h3".split())


def decide(reading: Reading) -> Content | None:
    """What to keep, or `None` when the page has no prose to vote."""
    survey = reading.survey
    if reading.scope == "article":
        return Content(0, _pruned(reading, 0, {}))
    at_least = 1 if reading.profile.all_text else opening.PARAGRAPH
    own = reading.voting
    mass = prose.sum_blocks(survey, own, at_least, reading.dead)
    if not mass[0]:
        return None
    share = reading.profile.share
    if at_least == opening.PARAGRAPH and mass[0] < _SHORT:
        lines = prose.sum_blocks(survey, own, _LINE, reading.dead)
        if lines[0] < 2 * _SHORT:
            mass, share = lines, _SHORT_SHARE
    root = _thread(reading, mass) or prose.deepest(survey, mass, share)
    while root and (survey.tag[root] in prose.PHRASING or survey.tag[root] in _PARTS):
        root = survey.parent[root]
    beside: Dropped = {}
    if reading.profile.has_opening:
        root, beside = opening.widen(survey, root, mass, own)
    return Content(root, _pruned(reading, root, beside))


def _thread(reading: Reading, mass: Sequence[int]) -> int | None:
    return threads.container(reading.survey, reading.dead, mass, reading.own) if reading.profile.is_thread else None


def _pruned(reading: Reading, root: int, beside: Dropped) -> Dropped:
    dropped = reading.dropped | beside
    dropped |= stray_lines.find(reading.survey, root, dropped)
    if reading.profile.drops_link_lists:
        host = urls.domain(reading.metadata.canonical)
        lists = blocks.link_lists(reading.survey, root, dropped, reading.profile.fewest_links, host)
        dropped |= lists | lone_headings.find(reading.survey, root, dropped, lists)
    elif reading.profile.drops_contents:
        dropped |= blocks.link_lists(reading.survey, root, dropped, _NEVER)
    if reading.profile.has_lone_links:
        dropped |= lone_links.find(reading.survey, root, dropped)
    if reading.profile.has_dateline and reading.scope != "article":  # else a rule wants it there
        dropped |= datelines.find(reading.survey, root, dropped, reading.own, reading.metadata.author)
    if reading.profile.is_thread:
        dropped |= quotations.repeated(reading.survey, root, dropped)
        dropped |= threads.refrains(reading.survey, root, dropped)
    if not reading.profile.links_count:  # cards may well bear the same name
        dropped |= lone_headings.repeated(reading.survey, root, dropped)
    return dropped | blocks.copies(reading.survey, root, dropped, any_block=reading.profile.says_once)


def judge(reading: Reading, measured: Measure) -> str | None:
    """Why the result is not good enough, or `None` when it is."""
    limit, least = _limits(reading)
    if measured.link_density > limit:
        return f"{measured.link_density:.0%} of its text stands in links, over {limit:.0%}"
    if measured.words >= least:
        return None
    if reading.bounds.min_words is None and _is_short_but_complete(reading, measured):
        return None
    return f"{measured.words} words, under {least}, and the page has more"


def _limits(reading: Reading) -> tuple[float, int]:
    """The most links and the fewest words: a rule's own, hardly any for an article that a rule chose, else the general."""
    chosen, bounds = reading.scope == "article", reading.bounds
    links, words = (1.0, MIN_WORDS_OF_A_CHOSEN_PART) if chosen else (reading.profile.max_link_density, MIN_WORDS)
    return (
        links if bounds.max_link_density is None else bounds.max_link_density,
        words if bounds.min_words is None else bounds.min_words,
    )


def _is_short_but_complete(reading: Reading, measured: Measure) -> bool:
    """A short page is complete when hardly any prose of it was left out; around a short thread there is always much."""
    left_out = reading.dead if reading.profile.is_thread else None
    everything = prose.sum_blocks(reading.survey, reading.own, 1, left_out)[0]
    return (
        measured.words >= MIN_WORDS_OF_A_SHORT_PAGE
        and measured.paragraphs > 0
        and measured.chars - measured.linked >= 0.4 * everything
    )
