"""The current time, and times as the library stores them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from pagekeep.text import compile_lazily

_DATE: Final = compile_lazily(
    r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2}"
    r"(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])?)?)?)?"
)
_FIRST_DAY: Final = "0001-01-01"


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


def begin_of(date: str) -> str | None:
    """Return when a year, month, day or time begins, in UTC unless it names a zone; `None` for any other text."""
    if not _DATE.fullmatch(date):
        return None
    try:
        time = datetime.fromisoformat(date + _FIRST_DAY[len(date) :])
        return format_time(time if time.tzinfo else time.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def end_of(date: str) -> str | None:
    """Return when a year, month or day ends, which is when the next one begins; `None` for any other text."""
    begin = begin_of(date) if len(date) <= len(_FIRST_DAY) else None
    if begin is None:
        return None
    time = datetime.fromisoformat(begin)
    try:
        if len(date) == len(_FIRST_DAY):
            return format_time(time + timedelta(days=1))
        months = time.year * 12 + time.month - 1 + (12 if len(date) == 4 else 1)
        return format_time(time.replace(year=months // 12, month=months % 12 + 1))
    except (ValueError, OverflowError):  # after the year 9999
        return None


def format_time(time: datetime) -> str:
    """Return a time as the library stores it."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
