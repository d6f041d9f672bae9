"""The chain of levels: each decides what it would keep, the first whose result is good enough wins, the last always does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from pagekeep.extraction.locate.page_facts import Content, Measure, Reading, measure
from pagekeep.extraction.locate.strategies import full_page, readability, simplified
from pagekeep.model import Attempt, Strategy

Timer = Callable[[], float]

MIN_WORDS: Final = 10
"""Content with fewer words is none, whatever promised more."""


@dataclass(frozen=True, slots=True)
class Level:
    """One way to find the content."""

    strategy: Strategy
    decide: Callable[[Reading], Content | None]
    judge: Callable[[Reading, Measure], str | None]
    """Why a result is not good enough, or `None`."""
    seconds: float
    """Its budget, kept when the caller gave a timer; the node limit of the survey bounds it in any case."""


LEVELS: Final = (
    Level("readability", readability.decide, readability.judge, 5.0),
    Level("simplified", simplified.decide, simplified.judge, 3.0),
    Level("full_page", full_page.decide, full_page.judge, 2.0),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Which level won with what, and what became of the others. No content means a smart bookmark."""

    strategy: Strategy
    content: Content | None
    attempts: tuple[Attempt, ...]
    tried: Content | None = None
    """What the last level would have kept, so that a bookmark can still tell what was removed."""


def run(reading: Reading, timer: Timer | None) -> Outcome:
    """Try the levels in order."""
    attempts: list[Attempt] = []
    tried: Content | None = None
    for level in LEVELS:
        content, attempt = _attempt(level, reading, timer)
        attempts.append(attempt)
        tried = content or tried
        if content is not None and attempt.passed:
            return Outcome(level.strategy, content, tuple(attempts), content)
    attempts.append(Attempt("bookmark", True, "always possible", 0, 0.0 if timer else None))
    return Outcome("bookmark", None, tuple(attempts), tried)


def fewest_words(reading: Reading) -> int:
    """How many words must be left after the clean-up: hardly any where a rule says what the article is."""
    if reading.bounds.min_words is not None:
        return reading.bounds.min_words
    return readability.MIN_WORDS_OF_A_CHOSEN_PART if reading.scope == "article" else MIN_WORDS


def give_up(outcome: Outcome, reason: str) -> Outcome:
    """A bookmark after all: the winner's content came to nothing once it was written, or is not the page's."""
    *others, winner = outcome.attempts
    failed = replace(winner, passed=False, reason=reason)
    bookmark = Attempt("bookmark", True, "always possible", 0, 0.0 if winner.seconds is not None else None)
    return Outcome("bookmark", None, (*others, failed, bookmark), outcome.content)


def _attempt(level: Level, reading: Reading, timer: Timer | None) -> tuple[Content | None, Attempt]:
    started = timer() if timer else 0.0
    content = level.decide(reading)
    measured = measure(reading, content) if content is not None else Measure(0, 0, 0, 0)
    fault = "found no candidate" if content is None else level.judge(reading, measured)
    seconds = timer() - started if timer else None
    if seconds is not None and seconds > level.seconds:
        fault = f"took longer than its {level.seconds:g} s"
    reason = fault or f"{measured.words} words in {measured.paragraphs} paragraphs"
    return content, Attempt(level.strategy, fault is None, reason, measured.words, seconds)
