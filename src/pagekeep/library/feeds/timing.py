"""When a feed is polled next: by how often it has new entries, what it and its server say, and how often it failed."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Final

from pagekeep import clock

MIN_SECONDS: Final = 1_800.0
"""No feed is polled more often, unless the user set so."""
MAX_SECONDS: Final = 86_400.0
"""Without failures every feed is polled once a day at least, unless the user set so or its server asks for more."""
MAX_HINT_SECONDS: Final = 7 * 86_400.0
"""What a feed or its server asks for is cut to this."""
MAX_BACKOFF_SECONDS: Final = 7 * 86_400.0
FIRST_BACKOFF_SECONDS: Final = 3_600.0
WINDOW_SECONDS: Final = 7 * 86_400.0
JITTER: Final = 0.1
_MAX_AGE: Final = re.compile(r"(?<![\w-])max-age\s*=\s*\"?(\d{1,9})")


def seconds_between(published: Sequence[str], now: str) -> float:
    """Return the usual time between two entries, by those of the last week."""
    since = clock.add_seconds(now, -WINDOW_SECONDS)
    recent = sum(since <= time <= now for time in published)
    return min(MAX_SECONDS, max(MIN_SECONDS, WINDOW_SECONDS / recent)) if recent else MAX_SECONDS


def server_seconds(headers: Mapping[str, str], now: str) -> float:
    """Return how long the response is fresh, by `Cache-Control: max-age` or `Expires`; 0 when neither says so."""
    control = headers.get("cache-control", "").lower()
    if found := _MAX_AGE.search(control):
        return min(float(found[1]), MAX_HINT_SECONDS)
    if "no-cache" in control or "no-store" in control:
        return 0.0
    return min(_seconds_until(headers.get("expires", ""), now), MAX_HINT_SECONDS)


def retry_seconds(headers: Mapping[str, str], now: str) -> float:
    """Return how long the server asks to wait, in either form of `Retry-After`; 0 when it does not."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), MAX_HINT_SECONDS)
    return min(_seconds_until(text, now), MAX_HINT_SECONDS)


def _seconds_until(date: str, now: str) -> float:
    try:
        time = clock.format_time(parsedate_to_datetime(date))
    except (ValueError, TypeError, OverflowError, IndexError):
        return 0.0
    return max(0.0, clock.days_between(now, time) * 86_400.0)


def after_success(base: float, hints: Sequence[float], now: str) -> str:
    """Return the next time: after the longest of the feed's own interval and the hints, and not quite on time."""
    return _later(max(base, *(min(hint, MAX_HINT_SECONDS) for hint in hints)), now)


def after_failure(base: float, attempts: int, retry: float, now: str) -> str:
    """Return the next time after this many failures in a row: later each time, and not before the server wants it."""
    backoff = min(max(base, FIRST_BACKOFF_SECONDS) * 2 ** min(max(0, attempts - 1), 12), MAX_BACKOFF_SECONDS)
    # Never before the time that the server asked for: the spread is added to it.
    return _later(backoff, now) if backoff > retry else clock.add_seconds(now, retry * random.uniform(1, 1 + JITTER))


def _later(seconds: float, now: str) -> str:
    return clock.add_seconds(now, seconds * random.uniform(1 - JITTER, 1 + JITTER))
