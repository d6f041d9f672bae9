"""The clock of the shell: moments as the library writes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def now() -> str:
    """This moment in UTC, to the microsecond."""
    return written(datetime.now(UTC))


def after(moment: str, seconds: float) -> str:
    """The moment so many seconds later (earlier when negative)."""
    return written(datetime.fromisoformat(moment) + timedelta(seconds=seconds))


def days_between(earlier: str, later: str) -> float:
    """Days from one moment to the other."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)) / timedelta(days=1)


def to_the_second(moment: str) -> str:
    """The moment as people read it, in frontmatter."""
    return datetime.fromisoformat(moment).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def written(moment: datetime) -> str:
    """A moment as the library writes it."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
