"""Strategies: each finds what it would keep, and the first whose result scores well enough wins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate import survey
from pagekeep.extraction.locate.boilerplate import TAGS
from pagekeep.extraction.locate.page_facts import Content, Measure, OutOfTime, PageFacts, find_kept, measure
from pagekeep.extraction.locate.strategies import readability, simplified
from pagekeep.model import Attempt, Options, Strategy
from pagekeep.text import compile_lazily, number_of
from pagekeep.values import dataclass

Timer = Callable[[], float]
Prune = Callable[[PageFacts, Content], Content]
"""Returns the content without what is pruned within it. Passed in, because the phase `prune` comes after this one."""

MIN_WORDS: Final = 10
"""Words that the content must have after the clean-up; with fewer a bookmark is kept. A short note has more."""
_ALWAYS_POSSIBLE: Final = "always possible"
_NOTHING: Final = Measure(0, 0, 0, 0)


BLOCKS: Final = tuple("p h1 h2 h3 h4 h5 h6 li blockquote pre table figure dt".split())
"""The blocks that make up the structure of a text."""


_BLOCKS: Final = frozenset(BLOCKS)
_MAX_LINK_DENSITY: Final = 0.3
"""Share of text in links up to which a result can be better than one with fewer links."""
_MIN_MORE_WORDS: Final = 1.5
"""How many times the words of an earlier result a later one must have to show that text was missed; menus are fewer words."""
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
    """Time limit, when the caller passes a timer; the survey's limit on nodes bounds the work in any case."""
    prunes: bool = False
    """Whether its result is pruned before it is judged."""


def locate_full_page(facts: PageFacts) -> Content | None:
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
    lines = survey.sum_blocks(facts.survey, facts.own, _LINE_CHARS, facts.dead)
    if not lines[0]:
        return whole
    return Content(survey.find_innermost(facts.survey, lines, _CONTAINER_SHARE), facts.excluded)


def judge_full_page(facts: PageFacts, measured: Measure) -> str | None:
    """Return why the result is not good enough, or `None` when it is."""
    min_words = _min_words(facts)
    if measured.words >= min_words:
        return None
    if facts.bounds.min_words is None and _is_short_but_complete(facts, measured):
        return None
    return f"{number_of(measured.words, 'word')}, under {min_words}"


STRATEGIES: Final = (
    ContentStrategy("readability", readability.locate, readability.judge, 5.0, prunes=True),
    ContentStrategy("simplified", simplified.locate, simplified.judge, 3.0),
    ContentStrategy("full_page", locate_full_page, judge_full_page, 2.0),
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
    """Try the strategies that the options allow, in order, until a result is good; of several that are not, keep the best one.

    The better one scores higher, or equally and comes first; see `_is_better`.
    """
    results: list[_Result] = []
    best: _Result | None = None
    for strategy in STRATEGIES:
        if strategy.name not in options.strategies:
            continue
        if best is not None:  # so that a result is not better only because of what is pruned from the other
            strategy = replace(strategy, prunes=True)
        result = _attempt(strategy, facts, prune, timer, options.min_content_chars)
        results.append(result)
        if result.passed and (best is None or _is_better(result, best)):
            best = result
        if best is not None and best.score >= GOOD_SCORE:
            break
    attempts = [_describe(result, best, timer) for result in results]
    if best is not None and best.content is not None:
        return Outcome(best.strategy.name, best.content, tuple(attempts), best.content)
    attempts.append(Attempt("bookmark", True, _ALWAYS_POSSIBLE, 0, 0.0 if timer else None))
    candidates = [result.content for result in results if result.content is not None]
    return Outcome("bookmark", None, tuple(attempts), candidates[-1] if candidates else None)


def min_words(facts: PageFacts) -> int:
    """Return how many words must be left after the clean-up."""
    if facts.bounds.min_words is not None:
        return facts.bounds.min_words
    return readability.MIN_CHOSEN_WORDS if facts.scope == "article" else MIN_WORDS


def fall_back_to_bookmark(outcome: Outcome, reason: str) -> Outcome:
    """Return the outcome as a bookmark, because the winner's content is not the page's or too little of it was left."""
    attempts = [
        replace(attempt, passed=False, reason=reason) if attempt.strategy == outcome.strategy else attempt
        for attempt in outcome.attempts
    ]
    seconds = 0.0 if attempts[0].seconds is not None else None
    bookmark = Attempt("bookmark", True, _ALWAYS_POSSIBLE, 0, seconds)
    return Outcome("bookmark", None, (*attempts, bookmark), outcome.content)


def score(*, has_title: bool, words: int, blocks: int, text: str) -> int:
    """Return the score of a text."""
    sentences = words // _WORDS_PER_SENTENCE
    if sentences <= _SENTENCES[0][0]:  # else the full stops change nothing
        sentences = max(sentences, len(_SENTENCE_END.findall(text)))
    points = (
        TITLE_POINTS if has_title else 0,
        _points(words * (_LETTERS_PER_WORD + 1), _LENGTH),
        _points(blocks, _STRUCTURE),
        _points(words, _WORDS),
        _points(sentences, _SENTENCES),
    )
    return sum(points)


@dataclass(frozen=True, slots=True)
class _Result:
    """What one strategy found."""

    strategy: ContentStrategy
    content: Content | None
    measured: Measure
    fault: str | None
    """Why it is not good enough."""
    score: int
    seconds: float | None

    @property
    def passed(self) -> bool:
        return self.content is not None and self.fault is None


def _is_better(result: _Result, best: _Result) -> bool:
    """Return whether a later result is better: it scores higher, and does so with text, not with links.

    A later strategy keeps more of the page, so that it nearly always has more words; only if it also reaches a good score
    can the earlier one have missed most of the text.
    """
    if result.measured.words < _MIN_MORE_WORDS * best.measured.words:
        return False
    return result.score >= GOOD_SCORE > best.score and result.measured.link_density <= max(
        best.measured.link_density, _MAX_LINK_DENSITY
    )


def _describe(result: _Result, best: _Result | None, timer: Timer | None) -> Attempt:
    measured = result.measured
    reason = result.fault or f"{number_of(measured.words, 'word')} in {number_of(measured.paragraphs, 'paragraph')}"
    passed = result is best
    if result.passed and best is not None and not passed:
        reason = f"{reason}, a score of {result.score}; {best.strategy.name} is better with {best.score}"
    return Attempt(result.strategy.name, passed, reason, measured.words, result.seconds if timer else None)


def _attempt(strategy: ContentStrategy, facts: PageFacts, prune: Prune, timer: Timer | None, min_chars: int) -> _Result:
    """Try one strategy; with a timer it is stopped at once when its time is over, and what it has is given up."""
    started = timer() if timer else 0.0
    measured, points = _NOTHING, 0
    try:
        limited = _limit(facts, timer, started + strategy.max_seconds) if timer else facts
        content = strategy.locate(limited)
        if content is not None and strategy.prunes:
            content = prune(limited, content)
        if content is None:
            fault: str | None = "found no candidate"
        else:
            measured = measure(facts, content)  # without a limit: the result is complete, however long it took
            points = _score(facts, content, measured)
            fault = strategy.judge(facts, measured) or _refuse(facts, points)
            if fault is None and measured.chars < min_chars:
                fault = f"{measured.chars} characters, under {min_chars}"
    except OutOfTime:
        content, fault = None, f"stopped after its {strategy.max_seconds:g} s"
    return _Result(strategy, content, measured, fault, points, timer() - started if timer else None)


def _limit(facts: PageFacts, timer: Timer, end: float) -> PageFacts:
    """Return the facts with a check of the time that a strategy has."""

    def check_time() -> None:
        if timer() > end:
            raise OutOfTime

    return replace(facts, check_time=check_time)


def _refuse(facts: PageFacts, points: int) -> str | None:
    """Return why a result with a low score is refused; what a rule chose, or sets a length for, is right at any score.

    That a page has no title says nothing about what a strategy found: a short note may have none.
    """
    min_score = MIN_SCORE if facts.metadata.title else MIN_SCORE - TITLE_POINTS
    if points >= min_score or facts.scope == "article" or facts.bounds.min_words is not None:
        return None
    return f"a score of {points}, under {MIN_SCORE}"


def _score(facts: PageFacts, content: Content, measured: Measure) -> int:
    """Return the score of what a strategy found, as far as it matters: a long text is good."""
    if measured.words > SURELY_GOOD_WORDS:
        return GOOD_SCORE
    if content.made is not None:
        blocks, text = len(content.made.children), dom.text_of(content.made)
    else:
        survey = facts.survey
        kept = find_kept(survey, content)
        blocks = sum([tag in _BLOCKS for first, end in kept for tag in survey.tag[first:end]])
        text = " ".join([text for first, end in kept for text in survey.texts_in(first, end)])
    return score(has_title=bool(facts.metadata.title), words=measured.words, blocks=blocks, text=text)


FULL_PAGE_MIN_WORDS: Final = 50
"""Words that make a page worth keeping whole."""
MIN_SHORT_PAGE_WORDS: Final = 10
"""Words of a short page, where they are nearly all that the page has."""
_LINE_CHARS: Final = 15
"""Characters from which on a block is a line of text; the words of a menu are shorter."""
_CONTAINER_SHARE: Final = 0.95
"""Share of a short page's text that its container must have."""
_COMPLETE_SHARE: Final = 0.6
"""Share of all text that a short page must have kept; with less, it is a remainder of a longer page. Chosen on the corpus."""


def _min_words(facts: PageFacts) -> int:
    return FULL_PAGE_MIN_WORDS if facts.bounds.min_words is None else facts.bounds.min_words


def _is_short_but_complete(facts: PageFacts, measured: Measure) -> bool:
    """Return whether a few words are all that the page has."""
    all_chars = survey.sum_blocks(facts.survey, facts.own, _LINE_CHARS)[0]
    return (
        measured.words >= MIN_SHORT_PAGE_WORDS
        and measured.link_density < facts.profile.max_link_density
        and measured.chars - measured.linked >= _COMPLETE_SHARE * all_chars > 0
    )


MIN_SCORE: Final = 30
"""Under this a strategy's result is refused."""
GOOD_SCORE: Final = 60
"""Under this the next strategy is tried too, and the result is not green. Both are the specification's."""


# Pairs of threshold and points: the first threshold that the count is over decides.
_LENGTH: Final = ((2_000, 40), (500, 25), (100, 10))
_STRUCTURE: Final = ((10, 20), (5, 12), (2, 6))
_WORDS: Final = ((500, 10), (100, 5))
_SENTENCES: Final = ((10, 10), (3, 5))
TITLE_POINTS: Final = 20
_LETTERS_PER_WORD: Final = 5
"""Length is counted in words of this many letters, so that scripts with short words score like others."""
_WORDS_PER_SENTENCE: Final = 25
"""Used for scripts without full stops."""
_SENTENCE_END: Final = compile_lazily(r"[.!?\u3002\uff01\uff1f\u061f\u0964\u0589\u1362\u2026]+")
SURELY_GOOD_WORDS: Final = 500
"""Over this many words length, words and sentences alone make a good score."""


def _points(count: int, table: tuple[tuple[int, int], ...]) -> int:
    return next((points for threshold, points in table if count > threshold), 0)
