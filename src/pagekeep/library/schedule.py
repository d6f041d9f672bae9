"""Schedules: what is done regularly, such as watching a page. When one is due it becomes a job of the queue."""

from __future__ import annotations

import random
import re
from typing import Final

from pagekeep import clock
from pagekeep.errors import InvalidQuery
from pagekeep.model import Schedule
from pagekeep.store import Store

MIN_SECONDS: Final = 300
"""Shorter intervals would only trouble a site."""
MAX_SECONDS: Final = 90 * 86_400
JITTER: Final = 0.1
"""Share of the interval by which each run is earlier or later, so that requests do not come all at the same time."""
MAX_BACKOFF: Final = 6
"""Failed runs after which the pauses get no longer: 64 times the interval, but at most `MAX_SECONDS`."""
_FAR_SECONDS: Final = 1.5 * MAX_SECONDS
"""A schedule that waits longer was set while the clock was ahead, and is due."""
_INTERVAL: Final = re.compile(r"(\d{1,6})\s*(m|min|h|d|w)")
_UNITS: Final = {"m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def parse_interval(text: str) -> int:
    """Return the seconds of an interval such as `30m`, `6h`, `1d` or `2w`; `InvalidQuery` for anything else."""
    found = _INTERVAL.fullmatch(text.strip().lower())
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise InvalidQuery(
            f"The interval cannot be `{text:.40}`.",
            suggestions=("Use 5m to 90d: a number and m (minutes), h (hours), d (days) or w (weeks).",),
        )
    return seconds


def format_interval(seconds: int) -> str:
    """Return an interval as `parse_interval` reads it."""
    for unit in ("w", "d", "h"):
        if seconds % _UNITS[unit] == 0:
            return f"{seconds // _UNITS[unit]}{unit}"
    return f"{max(1, seconds // 60)}m"


def next_time(schedule: Schedule, now: str) -> str:
    """Return when a schedule runs next: after its interval, twice as long for each failed run, and not quite on time."""
    seconds = min(schedule.every * 2 ** min(schedule.attempts, MAX_BACKOFF), MAX_SECONDS)
    return clock.add_seconds(now, seconds * random.uniform(1 - JITTER, 1 + JITTER))


def start_due(queue: Store) -> int:
    """Turn the schedules that are due into jobs; return how many. Any number of processes can do this."""
    now = clock.now()
    far = clock.add_seconds(now, _FAR_SECONDS)
    return queue.start_due(now, far, next_time) if queue.has_due(now, far) else 0
