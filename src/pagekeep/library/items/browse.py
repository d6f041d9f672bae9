"""Browse the library: counts, suggestions while typing, statistics, and what a search may have meant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from pagekeep import clock
from pagekeep.errors import PagekeepError
from pagekeep.model.library import CountPage, ItemCount
from pagekeep.store import Store, parse_query
from pagekeep.store.query import words

BrowsedKind = Literal["tag", "site", "author", "language"]
"""What the library can be browsed by."""
PAGE_SIZE: Final = 100
MAX_SUGGESTIONS: Final = 10


def count_states(store: Store) -> dict[str, int]:
    """Return how many items are in each list: all, inbox, archive, pinned, failed, trash, unread (of the inbox),
    reading, read."""
    return store.counts.get(["state"])["state"]


def list_counts(
    store: Store,
    kind: BrowsedKind,
    *,
    text: str = "",
    by_name: bool = False,
    page: int = 1,
    size: int = PAGE_SIZE,
) -> CountPage:
    """Return one page of the library's tags, sites, authors or languages, with how many items each has."""
    return store.counts.page(kind, text=text, by_name=by_name, limit=size, skip=(max(1, page) - 1) * size)


def suggest(store: Store, kind: BrowsedKind, text: str, limit: int = MAX_SUGGESTIONS) -> tuple[ItemCount, ...]:
    """Return what the text may be the beginning or a part of, the most used first."""
    return store.counts.suggest(kind, text, min(limit, MAX_SUGGESTIONS))


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
    counts = store.counts.get(["state", "saved", "read", "words_saved", "words_read"])
    state = counts["state"]
    return Statistics(
        tuple(_months(counts, months)),
        store.counts.page("site", limit=MAX_BARS).counts,
        store.counts.page("language", limit=MAX_BARS).counts,
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


_MAX_WORDS: Final = 8
_WORD: Final = re.compile(r"[^\W\d_]{4,24}")


def correct_query(store: Store, text: str) -> str | None:
    """Return the text with its mistakes corrected, if that finds something; `None` when nothing better is known.

    Only plain words are corrected, not filters or what is in quotes.
    """
    if '"' in text:
        return None
    changed = False
    parts = text.split()
    for at, part in enumerate(parts[:_MAX_WORDS]):
        if ":" in part or part.startswith("-") or not _WORD.fullmatch(part.rstrip("*")):
            continue
        [*folded] = words(part)
        if len(folded) != 1:
            continue
        nearest = store.counts.nearest_word(folded[0], prefix=at == len(parts) - 1 or part.endswith("*"))
        if nearest is not None:
            parts[at], changed = nearest, True
    corrected = " ".join(parts)
    return corrected if changed and _finds(store, corrected) else None


def _finds(store: Store, text: str) -> bool:
    try:
        return bool(store.search.find(parse_query(text, limit=1)).hits)
    except PagekeepError:
        return False
