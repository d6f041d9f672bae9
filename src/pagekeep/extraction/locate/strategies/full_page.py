"""Level 3: the whole body without what is boilerplate by tag or by a whole word in its class or id."""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.locate import prose
from pagekeep.extraction.locate.boilerplate import TAGS
from pagekeep.extraction.locate.page_facts import Content, Measure, Reading, measure

MIN_WORDS: Final = 50
MIN_WORDS_OF_A_SHORT_PAGE: Final = 10
_LINE: Final = 15
"""Characters from which on a block says something; the words of a menu are shorter."""
_SHARE: Final = 0.95
"""How much of a short page's text its container must hold."""
_COMPLETE: Final = 0.6
"""How much of all text a short page must have kept to be more than the scraps of a longer one."""


def decide(reading: Reading) -> Content | None:
    """The body without its boilerplate; names that would leave nothing of it are not believed, tags are."""
    content = Content(0, reading.dropped)
    measured = measure(reading, content)
    if measured.words >= _fewest_words(reading):
        return content
    by_tag = {index: why for index, why in reading.dropped.items() if reading.survey.tag[index] in TAGS}
    whole = Content(0, by_tag)
    is_all = _is_short_but_complete(reading, measured)
    if not is_all and measure(reading, whole).words >= _fewest_words(reading):
        return whole
    lines = prose.sum_blocks(reading.survey, reading.own, _LINE, reading.dead)
    return Content(prose.deepest(reading.survey, lines, _SHARE), reading.dropped) if lines[0] else whole


def judge(reading: Reading, measured: Measure) -> str | None:
    """Why the result is not good enough, or `None` when it is."""
    least = _fewest_words(reading)
    if measured.words >= least:
        return None
    if reading.bounds.min_words is None and _is_short_but_complete(reading, measured):
        return None
    return f"{measured.words} words, under {least}"


def _fewest_words(reading: Reading) -> int:
    return MIN_WORDS if reading.bounds.min_words is None else reading.bounds.min_words


def _is_short_but_complete(reading: Reading, measured: Measure) -> bool:
    """Whether a few words are all that the page has to say."""
    everything = prose.sum_blocks(reading.survey, reading.own, _LINE)[0]
    return (
        measured.words >= MIN_WORDS_OF_A_SHORT_PAGE
        and measured.link_density < reading.profile.max_link_density
        and measured.chars - measured.linked >= _COMPLETE * everything > 0
    )
