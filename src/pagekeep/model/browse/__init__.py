"""Values for browsing the library: counts of items."""

from __future__ import annotations

from typing import Literal

from pagekeep.values import dataclass

CountedKind = Literal[
    "state", "tag", "site", "author", "language", "quality", "saved", "read", "words_saved", "words_read"
]
"""What items are counted by; the last four by month, `words_saved` and `words_read` in words."""


@dataclass(frozen=True, slots=True)
class ItemCount:
    """How many items have a tag, are from a site..."""

    key: str
    """What the library calls it: of a tag, without case and accents."""
    name: str
    """What it is called when shown."""
    count: int


@dataclass(frozen=True, slots=True)
class CountPage:
    """One page of the counts of a kind."""

    counts: tuple[ItemCount, ...]
    total: int
    """How many counts all pages have."""
