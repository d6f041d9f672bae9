"""Says in plain words which rules matched a page and what each did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pagekeep.model import RuleEffect, RuleMatch

_PHASES: Final = {"pre": "before the content was looked for", "post": "on the content found"}
_WITHOUT_ELEMENTS: Final = frozenset({"rendering", "quality", "discard", "metadata"})
_MOST: Final = 60
"""Deeds shown of one rule."""


def rule_lines(matches: Iterable[RuleMatch]) -> Iterator[str]:
    """A line for every rule that matched, and under it a line for everything it did."""
    for match in matches:
        yield f"{match.id}, {_PHASES[match.phase]}: {match.trigger}."
        for effect in match.effects[:_MOST]:
            yield f"  {_told(effect)}."
        if len(match.effects) > _MOST:
            yield f"  ... and {len(match.effects) - _MOST} more."
        if not match.effects:
            yield "  It did nothing."


def _told(effect: RuleEffect) -> str:
    named = f"{effect.what} {effect.selector}".strip()
    note = effect.note.rstrip(".")
    if effect.what in _WITHOUT_ELEMENTS:
        return f"{named}: {note}" if note else named
    if not effect.count:
        return f"{named}: {note or 'found nothing'}"
    words = f"{effect.words} {'word' if effect.words == 1 else 'words'}"
    found = f"{effect.count} {'element' if effect.count == 1 else 'elements'} with {words}"
    return f"{named}: {found}, {note}" if note else f"{named}: {found}"


def match_shape(match: RuleMatch) -> dict[str, Any]:
    """A rule that matched as plain JSON types."""
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
