"""Level 3: the whole body without what is boilerplate by tag or by a whole word in its class or id."""

from __future__ import annotations

from typing import Final

from pagekeep.extract.boilerplate import TAGS
from pagekeep.extract.reading import Content, Measure, Reading, measure

MIN_WORDS: Final = 50


def decide(reading: Reading) -> Content | None:
    """The body without its boilerplate; names that would leave nothing of it are not believed, tags are."""
    content = Content(0, reading.dropped)
    if measure(reading, content).words >= _fewest_words(reading):
        return content
    by_tag = {index: why for index, why in reading.dropped.items() if reading.survey.tag[index] in TAGS}
    return Content(0, by_tag)


def judge(reading: Reading, measured: Measure) -> str | None:
    """Why the result is not good enough, or `None` when it is."""
    least = _fewest_words(reading)
    return None if measured.words >= least else f"{measured.words} words, under {least}"


def _fewest_words(reading: Reading) -> int:
    return MIN_WORDS if reading.bounds.min_words is None else reading.bounds.min_words
