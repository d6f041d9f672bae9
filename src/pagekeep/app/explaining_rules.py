"""Says in plain words which rules matched a page and what each did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pagekeep.model import RuleDeed, RuleMatch

_PHASES: Final = {"pre": "before the content was looked for", "post": "on the content found"}
_WITHOUT_ELEMENTS: Final = frozenset({"rendering", "quality", "discard", "metadata"})
_MOST: Final = 60
"""Deeds shown of one rule."""


def rule_lines(matches: Iterable[RuleMatch]) -> Iterator[str]:
    """A line for every rule that matched, and under it a line for everything it did."""
    for match in matches:
        yield f"{match.id}, {_PHASES[match.phase]}: {match.trigger}."
        for deed in match.deeds[:_MOST]:
            yield f"  {_told(deed)}."
        if len(match.deeds) > _MOST:
            yield f"  ... and {len(match.deeds) - _MOST} more."
        if not match.deeds:
            yield "  It did nothing."


def _told(deed: RuleDeed) -> str:
    named = f"{deed.what} {deed.selector}".strip()
    note = deed.note.rstrip(".")
    if deed.what in _WITHOUT_ELEMENTS:
        return f"{named}: {note}" if note else named
    if not deed.count:
        return f"{named}: {note or 'found nothing'}"
    words = f"{deed.words} {'word' if deed.words == 1 else 'words'}"
    found = f"{deed.count} {'element' if deed.count == 1 else 'elements'} with {words}"
    return f"{named}: {found}, {note}" if note else f"{named}: {found}"


def match_shape(match: RuleMatch) -> dict[str, Any]:
    """A rule that matched as plain JSON types."""
    deeds = [
        {"what": deed.what, "selector": deed.selector, "count": deed.count, "words": deed.words, "note": deed.note}
        for deed in match.deeds
    ]
    return {"id": match.id, "phase": match.phase, "trigger": match.trigger, "deeds": deeds}
