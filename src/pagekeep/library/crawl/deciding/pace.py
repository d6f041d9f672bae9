"""How fast a host is asked: slower when it says that it is busy, and step by step as before when it no longer does."""

from __future__ import annotations

from typing import Final

from pagekeep.model.crawl import Pace, Visit

FIRST_DELAY: Final = 1.0
"""Seconds between requests after a host was busy for the first time, at least."""
MAX_DELAY: Final = 60.0
GOOD_RESPONSES: Final = 10
"""Responses in a row after which the pause is halved."""
MAX_RESPONSE_PAUSE: Final = 10.0
"""A slow host is left in peace for as long as it took to answer, up to this."""
MIN_BUSY_DELAY: Final = 0.05
"""Seconds to which the pause of a host that was busy shrinks: without one, it would soon be busy again."""


def after(before: Pace, base: float, visit: Visit) -> tuple[Pace, float]:
    """Return the pace of a host after a visit, and the seconds until its next one; `base` is its least pause."""
    if not visit.requested:
        return before, 0.0
    if visit.busy is not None:
        delay = min(MAX_DELAY, max(2 * before.delay, 2 * base, FIRST_DELAY))
        return Pace(delay, 0), max(delay, visit.busy)
    delay, streak = before.delay, before.streak + 1
    if delay > base and streak >= GOOD_RESPONSES:
        delay, streak = max(delay / 2, base, MIN_BUSY_DELAY), 0
    now = max(base, delay)
    return Pace(delay, streak), max(now, min(visit.seconds, MAX_RESPONSE_PAUSE)) if now else 0.0
