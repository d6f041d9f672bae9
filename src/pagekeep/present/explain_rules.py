"""Explanations of rules: which matched a page, and what each did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pagekeep.model import RuleEffect, RuleMatch

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
        effects = [effect for effect in match.effects if verbose or _found_something(effect)]
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
    idle = [_count(number, noun) for number, noun in ((rules, "rule"), (selectors, "selector")) if number]
    if idle:
        yield f"Not shown: {' and '.join(idle)} that found nothing."


def _found_something(effect: RuleEffect) -> bool:
    return bool(effect.count) or effect.what in _WITHOUT_ELEMENTS


def _describe(effect: RuleEffect) -> str:
    label = f"{effect.what} {effect.selector}".strip()
    note = effect.note.rstrip(".")
    if effect.what in _WITHOUT_ELEMENTS:
        return f"{label}: {note}" if note else label
    if not effect.count:
        return f"{label}: {note or 'found nothing'}"
    elements = f"{_count(effect.count, 'element')} with {_count(effect.words, 'word')}"
    return f"{label}: {elements}, {note}" if note else f"{label}: {elements}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def match_shape(match: RuleMatch) -> dict[str, Any]:
    """Return a rule that matched as plain JSON types."""
    effects = [
        {
            "what": effect.what,
            "selector": effect.selector,
            "count": effect.count,
            "words": effect.words,
            "note": effect.note,
        }
        for effect in match.effects
    ]
    return {"id": match.id, "phase": match.phase, "trigger": match.trigger, "effects": effects}
