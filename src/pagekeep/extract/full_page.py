"""Level 3: the whole body without what is boilerplate by tag or by a whole word in its class or id."""

from __future__ import annotations

from typing import Final

from pagekeep.extract.reading import Content, Measure, Reading

MIN_WORDS: Final = 50


def decide(reading: Reading) -> Content | None:
    """The body without its boilerplate."""
    return Content(0, reading.dropped)


def judge(_reading: Reading, measured: Measure) -> str | None:
    """Why the result is not good enough, or `None` when it is."""
    return None if measured.words >= MIN_WORDS else f"{measured.words} words, under {MIN_WORDS}"
