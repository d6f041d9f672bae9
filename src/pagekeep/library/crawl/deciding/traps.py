"""Patterns of addresses that have no end, recognised by how many of them there are.

Each has a bound, so that a crawl ends on any site; how often a bound was reached is counted in the report.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final

from pagekeep.library.crawl.deciding import addresses

MAX_CHAIN: Final = 100
"""Pages in a row, each found on the one before, whose addresses differ in numbers only: pages of a list, months."""
MAX_CALENDAR: Final = 100
"""Days, months or years of one calendar."""
MAX_FACETS: Final = 8
"""Sets of parameter names of one path: a shop's filters combine without end, a forum has a few."""
MAX_VARIANTS: Final = 1_000
"""Addresses of one path with two or more parameters."""
MAX_QUERIES: Final = 10_000
"""Addresses of one path with parameters."""
MAX_HOPS: Final = 10
"""Redirects in a row."""
MAX_SITEMAPS: Final = 500
"""Sitemaps of one run."""


class Numbers:
    """Counters of address patterns: those of the store, and what is added to them."""

    def __init__(self, stored: Mapping[str, int]) -> None:
        self._stored = stored
        self.changed: dict[str, int] = {}

    def get(self, name: str) -> int:
        """Return a counter."""
        return self.changed.get(name, self._stored.get(name, 0))

    def add(self, name: str) -> None:
        """Count one more."""
        self.changed[name] = self.get(name) + 1


def counter_names(url: str) -> tuple[str, ...]:
    """Return the names of the counters that an address needs."""
    names = addresses.query_names(url)
    path = url.partition("?")[0]
    found = [_key("calendar", addresses.shape(url))] if addresses.is_calendar(url) else []
    if names:
        found += [_key("queries", path), _key("facets", path), _key("set", path, *names)]
    if len(names) > 1:
        found.append(_key("variants", path))
    return tuple(found)


def count(url: str, numbers: Numbers) -> str | None:
    """Count an address that is new; return the reason when it is over the bound of its pattern, and is then not counted."""
    if addresses.is_calendar(url):
        name = _key("calendar", addresses.shape(url))
        if numbers.get(name) >= MAX_CALENDAR:
            return "calendar"
        numbers.add(name)
    names = addresses.query_names(url)
    return _count_query(url.partition("?")[0], names, numbers) if names else None


def _count_query(path: str, names: tuple[str, ...], numbers: Numbers) -> str | None:
    is_new_set = numbers.get(_key("set", path, *names)) == 0
    if is_new_set and numbers.get(_key("facets", path)) >= MAX_FACETS:
        return "facets"
    if len(names) > 1 and numbers.get(_key("variants", path)) >= MAX_VARIANTS:
        return "facets"
    if numbers.get(_key("queries", path)) >= MAX_QUERIES:
        return "facets"
    if is_new_set:
        numbers.add(_key("facets", path))
        numbers.add(_key("set", path, *names))
    if len(names) > 1:
        numbers.add(_key("variants", path))
    numbers.add(_key("queries", path))
    return None


def chain_of(url: str, parent_url: str, parent_chain: int) -> int:
    """Return how many pages in a row have this shape, if the address was found on `parent_url`."""
    shape = addresses.shape(url)
    return parent_chain + 1 if "#" in shape and shape == addresses.shape(parent_url) and url != parent_url else 0


def _key(*parts: str) -> str:
    return f"{parts[0]}:{hashlib.sha256(chr(0).join(parts[1:]).encode()).hexdigest()[:32]}"


def all_names(urls: Iterable[str]) -> set[str]:
    """Return the names of the counters that some addresses need."""
    return {name for url in urls for name in counter_names(url)}
