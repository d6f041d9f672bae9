"""Assess how good the result is: a score for programs, a level and a colour for people, checks with reasons."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate import strategies
from pagekeep.extraction.output.losses import Comparison
from pagekeep.model import Check, Colour, Metadata, Quality, QualityLevel, Strategy
from pagekeep.text import number_of
from pagekeep.values import dataclass

_PARAGRAPHS: Final = tuple("p blockquote pre li".split())

_LEVELS: Final[dict[Strategy, QualityLevel]] = {
    "readability": "article",
    "simplified": "simplified",
    "full_page": "simplified",
    "bookmark": "bookmark",
    "verbatim": "article",
    "document": "article",
    "discarded": "discarded",
}
"""The best level that a strategy's result can have."""
_COLOURS: Final[dict[QualityLevel, Colour]] = {
    "article": "green",
    "simplified": "yellow",
    "bookmark": "orange",
    "discarded": "grey",
}
_MAX_CUT_SCORE: Final = 50
"""The highest score of a page whose end was left out: how much is missing is not known."""

_DECISIVE: Final = ("whole_page", "nothing_lost")
"""Checks that an article must pass."""
_CUT: Final = "the page is too large: its end was left out"
_MIN_WORDS: Final = 100
_MIN_PARAGRAPHS: Final = 2
_MIN_TEXT_SHARE: Final = 0.25
"""Share of text in the content's HTML; below it the content is mostly markup."""
_MAX_LINK_SHARE: Final = 0.3
"""Share of text in links; above it the content is mostly navigation."""


@dataclass(frozen=True, slots=True)
class Output:
    """The content in all its forms."""

    root: dom.Element
    """The tree of the clean HTML."""
    html: str
    text: str
    markdown: str
    word_count: int


def assess(
    output: Output,
    strategy: Strategy,
    metadata: Metadata,
    reason: str | None,
    comparison: Comparison,
    *,
    is_cut: bool = False,
) -> Quality:
    """Return the score, level and checks of one result; `reason` is why extraction failed, for a bookmark.

    `is_cut` says that the end of the page was left out because it is too large. An article that scores too low or lost
    something is only `simplified`, for the reason given.
    """
    points = _score(output, metadata)
    if is_cut:
        points = min(points, _MAX_CUT_SCORE)
    checks = _checks(output, metadata, comparison, is_cut)
    level = _LEVELS[strategy]
    if level == "article":
        faults = [check.reason for check in checks if not check.passed and check.name in _DECISIVE]
        faults += (
            [f"it scores {points} of 100, under {strategies.GOOD_SCORE}"] if points < strategies.GOOD_SCORE else []
        )
        level, reason = ("simplified", "; ".join(faults)) if faults else (level, reason)
    return Quality(points, level, _COLOURS[level], _message(level, output.word_count), checks, reason)


def discarded(reason: str) -> Quality:
    """Return the quality of a page that a rule discards."""
    return Quality(0, "discarded", _COLOURS["discarded"], "Discarded by a rule", (), reason)


def unassessed(strategy: Strategy) -> Quality:
    """Return the quality of a result that could not be assessed: nothing is claimed about it."""
    level = _LEVELS[strategy]
    level = "simplified" if level == "article" else level
    return Quality(0, level, _COLOURS[level], _message(level, 0), (), "its quality could not be assessed")


def _message(level: QualityLevel, words: int) -> str:
    if level == "article":
        return f"Article captured ({number_of(words, 'word')})"
    return "Article captured (simplified)" if level == "simplified" else "Saved as bookmark - extraction failed"


def _score(output: Output, metadata: Metadata) -> int:
    blocks = len(dom.tagged(output.root, strategies.BLOCKS))
    return strategies.score(has_title=bool(metadata.title), words=output.word_count, blocks=blocks, text=output.text)


def _checks(output: Output, metadata: Metadata, comparison: Comparison, is_cut: bool) -> tuple[Check, ...]:
    paragraphs = len(dom.tagged(output.root, _PARAGRAPHS))
    characters = len(output.text)
    density = characters / len(output.html) if output.html else 0.0
    linked = sum(len(dom.text_of(link)) for link in dom.select(output.root, "a"))
    link_density = min(1.0, linked / characters) if characters else 0.0
    in_links = f"{link_density:.0%} of the text is in links"
    known = [name for name in ("title", "author", "published") if getattr(metadata, name)]
    return (
        Check("words", output.word_count > _MIN_WORDS, number_of(output.word_count, "word")),
        Check("paragraphs", paragraphs > _MIN_PARAGRAPHS, number_of(paragraphs, "paragraph")),
        Check("text_density", density > _MIN_TEXT_SHARE, f"{density:.0%} of the content's HTML is text"),
        Check("link_density", link_density < _MAX_LINK_SHARE, in_links),
        Check("metadata", "title" in known and len(known) > 1, f"known: {', '.join(known) or 'nothing'}"),
        Check("whole_page", not is_cut, _CUT if is_cut else "the whole page was read"),
        Check("nothing_lost", comparison.passed, comparison.text),
    )
