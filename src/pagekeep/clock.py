"""The current time, and times as the library stores them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def now() -> str:
    """Return the current time in UTC, to the microsecond."""
    return format_time(datetime.now(UTC))


def add_seconds(time: str, seconds: float) -> str:
    """Return the time that many seconds later, or earlier when negative."""
    return format_time(datetime.fromisoformat(time) + timedelta(seconds=seconds))


def days_between(earlier: str, later: str) -> float:
    """Return the days from one time to the other."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)) / timedelta(days=1)


def to_the_second(time: str) -> str:
    """Return the time without fractions of a second, as in frontmatter."""
    return datetime.fromisoformat(time).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_time(time: datetime) -> str:
    """Return a time as the library stores it."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
