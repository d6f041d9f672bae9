"""The strategy `full_page`: the whole body without its boilerplate."""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.locate import prose
from pagekeep.extraction.locate.boilerplate import TAGS
from pagekeep.extraction.locate.page_facts import Content, Measure, PageFacts, measure
from pagekeep.text import number_of

MIN_WORDS: Final = 50
"""Words that make a page worth keeping whole."""
MIN_SHORT_PAGE_WORDS: Final = 10
"""Words of a short page, where they are nearly all that the page has."""
_LINE_CHARS: Final = 15
"""Characters from which on a block is a line of text; the words of a menu are shorter."""
_CONTAINER_SHARE: Final = 0.95
"""Share of a short page's text that its container must have."""
_COMPLETE_SHARE: Final = 0.6
"""Share of all text that a short page must have kept; with less, it is a remainder of a longer page. Chosen on the corpus."""


def locate(facts: PageFacts) -> Content | None:
    """Return the body without its boilerplate; where names would leave nothing of it, only tags count."""
    content = Content(0, facts.excluded)
    measured = measure(facts, content)
    if measured.words >= _min_words(facts):
        return content
    by_tag = {index: why for index, why in facts.excluded.items() if facts.survey.tag[index] in TAGS}
    whole = Content(0, by_tag)
    is_complete = _is_short_but_complete(facts, measured)
    if not is_complete and measure(facts, whole).words >= _min_words(facts):
        return whole
    lines = prose.sum_blocks(facts.survey, facts.own, _LINE_CHARS, facts.dead)
    if not lines[0]:
        return whole
    return Content(prose.find_innermost(facts.survey, lines, _CONTAINER_SHARE), facts.excluded)


def judge(facts: PageFacts, measured: Measure) -> str | None:
    """Return why the result is not good enough, or `None` when it is."""
    min_words = _min_words(facts)
    if measured.words >= min_words:
        return None
    if facts.bounds.min_words is None and _is_short_but_complete(facts, measured):
        return None
    return f"{number_of(measured.words, 'word')}, under {min_words}"


def _min_words(facts: PageFacts) -> int:
    return MIN_WORDS if facts.bounds.min_words is None else facts.bounds.min_words


def _is_short_but_complete(facts: PageFacts, measured: Measure) -> bool:
    """Return whether a few words are all that the page has."""
    all_chars = prose.sum_blocks(facts.survey, facts.own, _LINE_CHARS)[0]
    return (
        measured.words >= MIN_SHORT_PAGE_WORDS
        and measured.link_density < facts.profile.max_link_density
        and measured.chars - measured.linked >= _COMPLETE_SHARE * all_chars > 0
    )
