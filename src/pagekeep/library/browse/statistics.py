"""What was saved and read, by month, site and language: all from the counts, so that it takes no longer in a large library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pagekeep import clock
from pagekeep.model.browse import ItemCount
from pagekeep.store import Store

MAX_MONTHS: Final = 24
MAX_BARS: Final = 10
_WORDS_PER_MINUTE: Final = 200
_MONTHS_PER_YEAR: Final = 12


@dataclass(frozen=True, slots=True)
class Month:
    """What was saved and read in a month."""

    month: str
    """As `2026-03`."""
    saved: int
    read: int
    minutes_saved: int
    """Reading time of what was saved."""
    minutes_read: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the library holds, and what was read of it."""

    months: tuple[Month, ...]
    """Oldest first, without gaps, at most two years."""
    sites: tuple[ItemCount, ...]
    languages: tuple[ItemCount, ...]
    saved: int
    read: int
    reading: int
    unread: int
    minutes_saved: int
    minutes_read: int


def read_statistics(store: Store, months: int = MAX_MONTHS) -> Statistics:
    """Return the statistics of the library up to this month."""
    counts = store.counts(["state", "saved", "read", "words_saved", "words_read"])
    state = counts["state"]
    return Statistics(
        tuple(_months(counts, months)),
        store.count_page("site", limit=MAX_BARS).counts,
        store.count_page("language", limit=MAX_BARS).counts,
        saved=state.get("all", 0),
        read=state.get("read", 0),
        reading=state.get("reading", 0),
        unread=state.get("all", 0) - state.get("read", 0) - state.get("reading", 0),
        minutes_saved=_minutes(sum(counts["words_saved"].values())),
        minutes_read=_minutes(sum(counts["words_read"].values())),
    )


def _months(counts: dict[str, dict[str, int]], limit: int) -> list[Month]:
    known = [month for kind in ("saved", "read") for month in counts[kind]]
    last = clock.now()[:7]
    names: list[str] = []
    while len(names) < limit and (not names or names[-1] > min([*known, last])):
        names.append(last if not names else _before(names[-1]))
    return [
        Month(
            name,
            counts["saved"].get(name, 0),
            counts["read"].get(name, 0),
            _minutes(counts["words_saved"].get(name, 0)),
            _minutes(counts["words_read"].get(name, 0)),
        )
        for name in reversed(names)
    ]


def _before(month: str) -> str:
    year, number = int(month[:4]), int(month[5:])
    return f"{year:04}-{number - 1:02}" if number > 1 else f"{year - 1:04}-{_MONTHS_PER_YEAR}"


def _minutes(words: int) -> int:
    return round(words / _WORDS_PER_MINUTE)
