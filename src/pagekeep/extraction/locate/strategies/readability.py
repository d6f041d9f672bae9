"""The strategy `readability`: the innermost element that has most of the page's prose.

As in Arc90's and Mozilla's Readability, paragraphs vote for the elements around them; but votes are summed over whole subtrees
on flat arrays and the winner is the innermost element that keeps its share, so no tree is walked twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate import prose, threads
from pagekeep.extraction.locate.page_facts import Content, Measure, PageFacts
from pagekeep.extraction.locate.strategies import opening, recipes
from pagekeep.text import number_of

MIN_WORDS: Final = 100
"""Words of an article; a shorter result must be all that the page has."""
MIN_SHORT_PAGE_WORDS: Final = 20
"""Words of a short page."""
MIN_CHOSEN_WORDS: Final = 1
"""Words of an article that a rule chose: any length is right."""
_SHORT_PAGE_CHARS: Final = 600
"""With fewer characters in paragraphs a page is short: then its lines vote too, and nearly all of them must be kept."""
_MAX_SHORT_PAGE_CHARS: Final = 2 * _SHORT_PAGE_CHARS
"""Characters in lines from which on a page with few paragraphs is not short but made of lines."""
_LINE_CHARS: Final = 15
"""Characters from which on a block is a line of text; the words of a menu are shorter."""
_SHORT_PAGE_SHARE: Final = 0.95
"""Share of a short page's lines that its container must have."""
_COMPLETE_SHARE: Final = 0.4
"""Share of all text that a short page must have kept to be complete. Chosen on the corpus."""
_COMPLETE_PROSE_SHARE: Final = 0.8
"""Share of the paragraphs outside boilerplate that a short page of prose must have kept to be complete."""
_MIN_LEARNED_CHARS: Final = 700
"""Characters that the learned element must have if the page has prose beside it: an article, so that it is not refused as
too short, and not the frame around a list."""

# The container of the content is never one of these, but an element around them.
_PARTS: Final = frozenset("p li td th tr tbody thead ul ol blockquote table dl dd dt pre figure h1 h2 h3".split())


def locate(facts: PageFacts) -> Content | None:
    """Return the container of the page's prose, or `None` when the page has no prose."""
    if facts.scope == "article":
        return Content(0, facts.excluded)
    survey = facts.survey
    mass, share = _weigh(facts)
    facts.check_time()
    if not mass[0]:
        return None
    root = _find_thread(facts, mass) or prose.find_innermost(survey, mass, share)
    while root and (survey.tag[root] in prose.PHRASING or survey.tag[root] in _PARTS):
        root = survey.parent[root]
    root = _find_learned(facts, mass, root) or root
    root = recipes.widen(facts, root)
    facts.check_time()
    if not facts.profile.has_opening:
        return Content(root, facts.excluded)
    return opening.include(facts, root, mass)


def judge(facts: PageFacts, measured: Measure) -> str | None:
    """Return why the result is not good enough, or `None` when it is."""
    max_link_density, min_words = _limits(facts)
    if measured.link_density > max_link_density:
        return f"{measured.link_density:.0%} of its text is in links, over {max_link_density:.0%}"
    if measured.words >= min_words:
        return None
    if facts.bounds.min_words is None and _is_short_but_complete(facts, measured):
        return None
    return f"{number_of(measured.words, 'word')}, under {min_words}, and the page has more"


def _weigh(facts: PageFacts) -> tuple[list[int], float]:
    """Return the characters that vote in each subtree, and the share of them that the container must have."""
    min_chars = 1 if facts.profile.all_text else opening.PARAGRAPH_CHARS
    mass = prose.sum_blocks(facts.survey, facts.votes, min_chars, facts.dead)
    if min_chars == opening.PARAGRAPH_CHARS and 0 < mass[0] < _SHORT_PAGE_CHARS:
        lines = prose.sum_blocks(facts.survey, facts.votes, _LINE_CHARS, facts.dead)
        if lines[0] < _MAX_SHORT_PAGE_CHARS:
            return lines, _SHORT_PAGE_SHARE
    return mass, facts.profile.share


def _find_thread(facts: PageFacts, mass: Sequence[int]) -> int | None:
    return threads.find_container(facts.survey, facts.dead, mass, facts.own) if facts.profile.is_thread else None


def _find_learned(facts: PageFacts, mass: Sequence[int], root: int) -> int | None:
    """Return the element that has the content on other pages of the site, if this page confirms it.

    There must be one, around or within the element with most of the prose, and it must have its own text.
    """
    if facts.site is None or facts.site.selector is None or facts.scope is not None:
        return None
    survey = facts.survey
    found = list(survey.find_nodes(dom.select(survey.nodes[0], facts.site.selector)).values())
    if len(found) != 1 or facts.dead[found[0]]:
        return None
    learned = found[0]
    outer, inner = (learned, root) if learned <= root else (root, learned)
    is_nested = inner < survey.end[outer]
    return learned if is_nested and (outer == learned or mass[learned] >= _MIN_LEARNED_CHARS) else None


def _limits(facts: PageFacts) -> tuple[float, int]:
    """Return the highest link density and the fewest words: a rule's, none for an article that a rule chose, or the general."""
    is_chosen, bounds = facts.scope == "article", facts.bounds
    links, words = (1.0, MIN_CHOSEN_WORDS) if is_chosen else (facts.profile.max_link_density, MIN_WORDS)
    return (
        links if bounds.max_link_density is None else bounds.max_link_density,
        words if bounds.min_words is None else bounds.min_words,
    )


def _is_short_but_complete(facts: PageFacts, measured: Measure) -> bool:
    """Return whether hardly any prose of a short page was left out; around a short thread there is always much.

    On pages of prose only paragraphs count, and none of the boilerplate: a note of fifty words is complete under any menu.
    """
    if measured.words < MIN_SHORT_PAGE_WORDS or not measured.paragraphs:
        return False
    own, kept = facts.own, measured.chars - measured.linked
    if not facts.profile.all_text:
        prose_chars = prose.sum_blocks(facts.survey, own, opening.PARAGRAPH_CHARS, facts.dead)[0]
        if prose_chars > 0 and kept >= _COMPLETE_PROSE_SHARE * prose_chars:
            return True
    left_out = facts.dead if facts.profile.is_thread else None
    return kept >= _COMPLETE_SHARE * prose.sum_blocks(facts.survey, own, 1, left_out)[0]
