"""Says in plain words how a page's content was found."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from pagekeep.model import Attempt, Page, Removal, Strategy
from pagekeep.present.explain_rules import rule_lines
from pagekeep.text import printable

LEVEL_NAMES: Final[dict[Strategy, str]] = {
    "readability": "readability scoring",
    "simplified": "known content containers",
    "full_page": "the whole page without its furniture",
    "bookmark": "a bookmark of the metadata",
    "verbatim": "the text as it is",
    "discarded": "a rule that wants none of it",
}
"""The levels in the order they are tried; the last two stand beside the chain."""
_BESIDE: Final[frozenset[Strategy]] = frozenset({"verbatim", "discarded"})

MOST_REMOVALS: Final = 40
"""Lines of removals shown; a big page can have thousands, and the biggest are what one looks for."""


def explain(page: Page) -> str:
    """Which level won, why the others lost, what was removed, and where the metadata came from."""
    sections = [
        ("Verdict", _verdict(page)),
        ("Levels, in the order they are tried", _levels(page)),
        ("Checks of the result", _checks(page)),
        ("The page", _identity(page)),
        ("Metadata, and where it came from", _metadata(page)),
        ("Rules that matched, in the order they ran", rule_lines(page.trace.rules)),
        (_removal_heading(page.trace.removals), _removals(page.trace.removals)),
        ("Warnings", _warnings(page)),
        ("Time", _times(page)),
    ]
    blocks: list[str] = []
    for heading, lines in sections:
        shown = [f"  {_printable(line)}" for line in lines]
        if shown:
            blocks.append("\n".join([heading, *shown]))
    return "\n\n".join(blocks) + "\n"


def is_verbatim(page: Page) -> bool:
    """Whether the page was no HTML and kept as it is, past all levels."""
    return page.strategy == "verbatim"


def _verdict(page: Page) -> Iterator[str]:
    yield f"{page.quality.message}. Quality {page.quality.score} of 100."
    if page.strategy == "discarded":
        yield f"{page.quality.reason}."
        return
    yield f"{_sentence(LEVEL_NAMES[page.strategy])} won: {_reason_of(page)}."
    if page.quality.reason:
        yield f"Extraction failed: {page.quality.reason}."


def _reason_of(page: Page) -> str:
    reasons = [attempt.reason for attempt in page.trace.attempts if attempt.strategy == page.strategy]
    return _unstopped(reasons[-1]) if reasons else "it always succeeds"


def _levels(page: Page) -> Iterator[str]:
    if page.strategy in _BESIDE:
        names = {page.strategy: LEVEL_NAMES[page.strategy]}
    else:
        names = {strategy: name for strategy, name in LEVEL_NAMES.items() if strategy not in _BESIDE}
    for number, (strategy, name) in enumerate(names.items(), start=1):
        attempts = [attempt for attempt in page.trace.attempts if attempt.strategy == strategy]
        for attempt in attempts:
            yield f"{number}. {_sentence(name)} {_outcome(attempt)}"
        if not attempts:
            yield f"{number}. {_sentence(name)}: {'won' if strategy == page.strategy else 'not needed'}."


def _outcome(attempt: Attempt) -> str:
    verdict = "won" if attempt.passed else "lost"
    took = "" if attempt.seconds is None else f", {_milliseconds(attempt.seconds)}"
    return f"{verdict} with {_words(attempt.words)}{took}: {_unstopped(attempt.reason)}."


def _warnings(page: Page) -> Iterator[str]:
    if page.need_render:
        yield f"A browser would show more: {_unstopped(page.need_render.reason)}."
    yield from (warning.text for warning in page.trace.warnings)


def _checks(page: Page) -> Iterator[str]:
    for check in page.quality.checks:
        yield f"{'passed' if check.passed else 'failed'}  {check.name}: {_unstopped(check.reason)}."


def _identity(page: Page) -> Iterator[str]:
    because = "; ".join(page.trace.kind_reasons)
    yield f"Kind: {page.kind}" + (f", because {because}." if because else ".")
    yield f"Document type: {page.trace.document_type}."
    links, media = _count(len(page.links), "link"), _count(len(page.media), "medium", "media")
    yield f"Content: {_words(page.word_count)}, {links}, {media}."


def _metadata(page: Page) -> Iterator[str]:
    for name, origin in page.metadata.origins.items():
        value = getattr(page.metadata, name, None)
        if value:
            shown = ", ".join(value) if isinstance(value, tuple) else str(value)
            yield f"{name}: {_shortened(shown)} ({origin})"


def _removal_heading(removals: tuple[Removal, ...]) -> str:
    return f"Removed: {_count(len(removals), 'element')} with {_words(sum(removal.words for removal in removals))}"


def _removals(removals: tuple[Removal, ...]) -> Iterator[str]:
    """Equal removals as one line, the wordiest first."""

    def identity(removal: Removal) -> tuple[str, str]:
        return removal.reason, removal.element

    groups = [(key, list(same)) for key, same in groupby(sorted(removals, key=identity), key=identity)]
    groups.sort(key=lambda group: -sum(removal.words for removal in group[1]))
    for (reason, element), same in groups[:MOST_REMOVALS]:
        times = f" ({len(same)} times)" if len(same) > 1 else ""
        yield f"{_shortened(element)}{times}, {_words(sum(removal.words for removal in same))}: {_unstopped(reason)}."
    if len(groups) > MOST_REMOVALS:
        yield f"... and {_count(len(groups) - MOST_REMOVALS, 'more kind')} of smaller ones."


def _times(page: Page) -> Iterator[str]:
    for stage, seconds in page.trace.seconds.items():
        yield f"{stage}: {_milliseconds(seconds)}"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


def _words(number: int) -> str:
    return _count(number, "word")


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _unstopped(text: str) -> str:
    return text.rstrip(". ")


def _shortened(text: str, limit: int = 100) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _printable(line: str) -> str:
    """Without control characters: class names and titles are the page's, and could steer the terminal."""
    return printable(line)
