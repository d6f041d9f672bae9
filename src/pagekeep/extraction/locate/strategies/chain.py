"""The chain of strategies: each finds what it would keep, and the first whose result is good enough wins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from pagekeep.extraction.locate.page_facts import Content, Measure, PageFacts, measure
from pagekeep.extraction.locate.strategies import full_page, readability, simplified
from pagekeep.model import Attempt, Options, Strategy

Timer = Callable[[], float]
Prune = Callable[[PageFacts, Content], Content]
"""Returns the content without what is pruned within it. Passed in, because the phase `prune` comes after this one."""

MIN_WORDS: Final = 10
"""Words that the content must have after the clean-up; with fewer a bookmark is kept. A short note has more."""
_ALWAYS_POSSIBLE: Final = "always possible"
_DEFAULTS: Final = Options()


@dataclass(frozen=True, slots=True)
class ContentStrategy:
    """One way to find the content."""

    name: Strategy
    locate: Callable[[PageFacts], Content | None]
    """Finds what to keep, or `None`."""
    judge: Callable[[PageFacts, Measure], str | None]
    """Returns why a result is not good enough, or `None`."""
    max_seconds: float
    """Time limit, checked when the caller passes a timer; the survey's limit on nodes bounds the work in any case."""
    prunes: bool = False
    """Whether its result is pruned before it is judged."""


STRATEGIES: Final = (
    ContentStrategy("readability", readability.locate, readability.judge, 5.0, prunes=True),
    ContentStrategy("simplified", simplified.locate, simplified.judge, 3.0),
    ContentStrategy("full_page", full_page.locate, full_page.judge, 2.0),
)
"""In the order they are tried. The time limits are those of the chain's design."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Which strategy won with which content, and all attempts. Without content, a bookmark is kept."""

    strategy: Strategy
    content: Content | None
    attempts: tuple[Attempt, ...]
    candidate: Content | None = None
    """What the last strategy would have kept, so that the removals of a bookmark can still be reported."""


def run(facts: PageFacts, prune: Prune, timer: Timer | None = None, options: Options = _DEFAULTS) -> Outcome:
    """Try the strategies that the options allow, in order."""
    attempts: list[Attempt] = []
    candidate: Content | None = None
    for strategy in STRATEGIES:
        if strategy.name not in options.strategies:
            continue
        content, attempt = _attempt(strategy, facts, prune, timer, options.min_content_chars)
        attempts.append(attempt)
        candidate = content or candidate
        if content is not None and attempt.passed:
            return Outcome(strategy.name, content, tuple(attempts), content)
    attempts.append(Attempt("bookmark", True, _ALWAYS_POSSIBLE, 0, 0.0 if timer else None))
    return Outcome("bookmark", None, tuple(attempts), candidate)


def min_words(facts: PageFacts) -> int:
    """Return how many words must be left after the clean-up."""
    if facts.bounds.min_words is not None:
        return facts.bounds.min_words
    return readability.MIN_CHOSEN_WORDS if facts.scope == "article" else MIN_WORDS


def fall_back_to_bookmark(outcome: Outcome, reason: str) -> Outcome:
    """Return the outcome as a bookmark, because the winner's content is not the page's or too little of it was left."""
    *others, winner = outcome.attempts
    failed = replace(winner, passed=False, reason=reason)
    bookmark = Attempt("bookmark", True, _ALWAYS_POSSIBLE, 0, 0.0 if winner.seconds is not None else None)
    return Outcome("bookmark", None, (*others, failed, bookmark), outcome.content)


def _attempt(
    strategy: ContentStrategy, facts: PageFacts, prune: Prune, timer: Timer | None, min_chars: int
) -> tuple[Content | None, Attempt]:
    started = timer() if timer else 0.0
    content = strategy.locate(facts)
    if content is not None and strategy.prunes:
        content = prune(facts, content)
    measured = measure(facts, content) if content is not None else Measure(0, 0, 0, 0)
    fault = "found no candidate" if content is None else strategy.judge(facts, measured)
    if fault is None and measured.chars < min_chars:
        fault = f"{measured.chars} characters, under {min_chars}"
    seconds = timer() - started if timer else None
    if seconds is not None and seconds > strategy.max_seconds:
        fault = f"took longer than its {strategy.max_seconds:g} s"
    reason = fault or f"{measured.words} words in {measured.paragraphs} paragraphs"
    return content, Attempt(strategy.name, fault is None, reason, measured.words, seconds)
