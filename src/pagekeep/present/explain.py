"""Explanations: how a page's content was found, which rules matched, what was removed, where its metadata came from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pagekeep.model import Attempt, Page, Removal, RuleEffect, RuleMatch, Strategy, plain
from pagekeep.text import number_of, printable

STRATEGY_NAMES: Final[dict[Strategy, str]] = {
    "readability": "readability scoring",
    "simplified": "known content containers",
    "full_page": "the whole page without boilerplate",
    "bookmark": "a bookmark of the metadata",
    "verbatim": "the text as it is",
    "document": "the whole document",
    "discarded": "a rule that discards the page",
}
"""The strategies in the order they are tried; the last two are not tried in turn."""
_NOT_TRIED: Final[frozenset[Strategy]] = frozenset({"verbatim", "document", "discarded"})

MAX_REMOVAL_KINDS: Final = 10
"""Lines per step unless verbose: a big page has thousands of removals, and the largest are the ones to look at."""
_MAX_VALUE_CHARS: Final = 100
"""Of a metadata value or an element's name: one line of a terminal with its label."""


def explain(page: Page, *, verbose: bool = False) -> str:
    """Return which strategy won, why the others lost, what was removed, and where the metadata came from.

    `verbose` adds rules and selectors that found nothing, every kind of removal, and the time of each step.
    """
    removals = page.trace.removals
    sections: list[tuple[str, Iterable[str]]] = [
        ("Verdict", _verdict(page)),
        ("Strategies, in the order they are tried", _strategies(page)),
        ("Checks of the result", _checks(page)),
        ("The page", _identity(page)),
        ("Pages that were joined", _pages(page)),
        ("Metadata, and where it came from", _metadata(page)),
        ("Rules that matched, in the order they ran", rule_lines(page.trace.rules, verbose=verbose)),
        (f"Removed: {_total(removals)}", _removals_by_step(removals, verbose)),
        ("Nearly removed", _doubts(page)),
        ("Warnings", _warnings(page)),
        ("Time", _times(page, verbose)),
    ]
    blocks: list[str] = []
    for heading, section in sections:
        # Class names and titles are the page's own: control characters in them could steer the terminal.
        lines = [f"  {printable(line)}" for line in section]
        if lines:
            blocks.append("\n".join([heading, *lines]))
    return "\n\n".join(blocks) + "\n"


def _verdict(page: Page) -> Iterator[str]:
    yield f"{page.quality.message}. Quality {page.quality.score} of 100."
    if page.strategy == "discarded":
        yield f"{page.quality.reason}."
        return
    reasons = [attempt.reason for attempt in page.trace.attempts if attempt.strategy == page.strategy]
    reason = _strip_stop(reasons[-1]) if reasons else "it always succeeds"
    yield f"{_capitalise(STRATEGY_NAMES[page.strategy])} won: {reason}."
    if page.quality.reason:
        failed = "Extraction failed" if page.quality.level == "bookmark" else "Only simplified"
        yield f"{failed}: {_strip_stop(page.quality.reason)}."


def _strategies(page: Page) -> Iterator[str]:
    if page.strategy in _NOT_TRIED:
        names = {page.strategy: STRATEGY_NAMES[page.strategy]}
    else:
        names = {strategy: name for strategy, name in STRATEGY_NAMES.items() if strategy not in _NOT_TRIED}
    for number, (strategy, name) in enumerate(names.items(), start=1):
        attempts = [attempt for attempt in page.trace.attempts if attempt.strategy == strategy]
        for attempt in attempts:
            yield f"{number}. {_capitalise(name)} {_outcome(attempt)}"
        if not attempts:
            yield f"{number}. {_capitalise(name)}: {'won' if strategy == page.strategy else 'not needed'}."


def _outcome(attempt: Attempt) -> str:
    verdict = "won" if attempt.passed else "lost"
    duration = "" if attempt.seconds is None else f", {_milliseconds(attempt.seconds)}"
    return f"{verdict} with {number_of(attempt.words, 'word')}{duration}: {_strip_stop(attempt.reason)}."


def _checks(page: Page) -> Iterator[str]:
    for check in page.quality.checks:
        yield f"{'passed' if check.passed else 'failed'}  {check.name.replace('_', ' ')}: {_strip_stop(check.reason)}."


def _identity(page: Page) -> Iterator[str]:
    reasons = "; ".join(page.trace.kind_reasons)
    yield f"Kind: {page.kind}" + (f", because {reasons}." if reasons else ".")
    if page.file_type:
        pages = f", {number_of(page.page_count, 'page')}" if page.page_count else ""
        yield f"File: {page.file_type}{pages}."
    else:
        yield f"Document type: {page.trace.document_type}."
    links, media = (
        number_of(len(page.links), "link"),
        f"{len(page.media)} {'medium' if len(page.media) == 1 else 'media'}",
    )
    yield f"Content: {number_of(page.word_count, 'word')}, {links}, {media}."


def _pages(page: Page) -> Iterator[str]:
    for part in page.trace.pages:
        yield f"{_shorten(part.url)}: {number_of(part.words, 'word')}. {_capitalise(_strip_stop(part.note))}."


def _metadata(page: Page) -> Iterator[str]:
    for name, origin in page.metadata.origins.items():
        value = getattr(page.metadata, name, None)
        if value:
            text = ", ".join(value) if isinstance(value, tuple) else str(value)
            yield f"{name}: {_shorten(text)} ({origin})"


def _removals_by_step(removals: Iterable[Removal], verbose: bool) -> Iterator[str]:
    """Yield the removals under the steps that made them, in the order the steps ran."""
    steps: dict[str, list[Removal]] = defaultdict(list)
    for removal in removals:
        steps[removal.step].append(removal)
    yield from _removal_lines(steps.pop("", []), verbose)
    for step, removed in steps.items():
        yield f"{step}: {_total(removed)}"
        yield from (f"  {line}" for line in _removal_lines(removed, verbose))


def _removal_lines(removals: list[Removal], verbose: bool) -> Iterator[str]:
    """Yield one line for equal removals, those with the most words first."""
    kinds: dict[tuple[str, str], list[int]] = defaultdict(list)
    for removal in removals:
        kinds[removal.reason, removal.element].append(removal.words)
    ordered = sorted(kinds.items(), key=lambda kind: (-sum(kind[1]), kind[0]))
    shown = ordered if verbose else ordered[:MAX_REMOVAL_KINDS]
    for (reason, element), words in shown:
        times = f" ({len(words)} times)" if len(words) > 1 else ""
        held = f", {number_of(sum(words), 'word')}" if any(words) else ""
        yield f"{_shorten(element)}{times}{held}: {_strip_stop(reason)}."
    if len(ordered) > len(shown):
        yield f"... and {number_of(len(ordered) - len(shown), 'more kind')} with fewer words."


def _doubts(page: Page) -> Iterator[str]:
    """Yield the blocks that the judge was in doubt about, and why they were kept."""
    for doubt in page.trace.doubts:
        yield f"{_shorten(doubt.element)}, {number_of(doubt.words, 'word')}: kept, {doubt.reason}."


def _total(removals: Iterable[Removal]) -> str:
    words = [removal.words for removal in removals]
    return f"{number_of(len(words), 'element')} with {number_of(sum(words), 'word')}"


def _warnings(page: Page) -> Iterator[str]:
    if page.need_render:
        yield f"A browser would show more: {_strip_stop(page.need_render.reason)}."
    yield from (warning.text for warning in page.trace.warnings)


def _times(page: Page, verbose: bool) -> Iterator[str]:
    times = page.trace.seconds
    if times:
        yield f"Total: {_milliseconds(sum(times.values()))}"
    if verbose:
        yield from (f"{step}: {_milliseconds(seconds)}" for step, seconds in times.items())


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def _strip_stop(text: str) -> str:
    return text.rstrip(". ")


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_VALUE_CHARS else text[: _MAX_VALUE_CHARS - 1] + "…"


_PHASES: Final = {"pre": "before extraction", "post": "on the extracted content"}
_WITHOUT_ELEMENTS: Final = frozenset({"rendering", "quality", "discard", "metadata", "next_page", "single_page"})
"""Effects that are not about elements, so that a count of 0 does not mean that they found nothing."""
_MAX_EFFECTS: Final = 60
"""Of one rule that are shown; a generic rule has hundreds of selectors."""


def rule_lines(matches: Iterable[RuleMatch], *, verbose: bool = False) -> Iterator[str]:
    """Yield a line for every rule that matched, and below it one for each of its effects.

    Without `verbose`, rules and selectors that found nothing are only counted.
    """
    rules = selectors = 0
    for match in matches:
        effects = [effect for effect in match.effects if verbose or effect.count or effect.what in _WITHOUT_ELEMENTS]
        if not effects and not verbose:
            rules += 1
            continue
        selectors += len(match.effects) - len(effects)
        yield f"{match.id}, {_PHASES[match.phase]}: {match.trigger}."
        for effect in effects[:_MAX_EFFECTS]:
            yield f"  {_describe(effect)}."
        if len(effects) > _MAX_EFFECTS:
            yield f"  ... and {len(effects) - _MAX_EFFECTS} more."
        if not effects:
            yield "  It did nothing."
    idle = [number_of(number, noun) for number, noun in ((rules, "rule"), (selectors, "selector")) if number]
    if idle:
        yield f"Not shown: {' and '.join(idle)} that found nothing."


def _describe(effect: RuleEffect) -> str:
    label = f"{effect.what} {effect.selector}".strip()
    note = effect.note.rstrip(".")
    if effect.what in _WITHOUT_ELEMENTS:
        return f"{label}: {note}" if note else label
    if not effect.count:
        return f"{label}: {note or 'found nothing'}"
    elements = f"{number_of(effect.count, 'element')} with {number_of(effect.words, 'word')}"
    return f"{label}: {elements}, {note}" if note else f"{label}: {elements}"


def match_shape(match: RuleMatch) -> dict[str, Any]:
    """Return a rule that matched as plain JSON types."""
    shape: dict[str, Any] = plain(match)
    return shape
