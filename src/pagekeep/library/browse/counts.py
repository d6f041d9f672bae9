"""How many items there are, by state, tag, site, author, language and month; and suggestions while typing."""

from __future__ import annotations

from typing import Final, Literal

from pagekeep.model.browse import CountPage, ItemCount
from pagekeep.store import Store

BrowsedKind = Literal["tag", "site", "author", "language"]
"""What the library can be browsed by."""
PAGE_SIZE: Final = 100
MAX_SUGGESTIONS: Final = 10


def count_states(store: Store) -> dict[str, int]:
    """Return how many items are in each list: all, inbox, archive, pinned, failed, trash, unread (of the inbox),
    reading, read."""
    return store.counts(["state"])["state"]


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
    return store.count_page(kind, text=text, by_name=by_name, limit=size, skip=(max(1, page) - 1) * size)


def suggest(store: Store, kind: BrowsedKind, text: str, limit: int = MAX_SUGGESTIONS) -> tuple[ItemCount, ...]:
    """Return what the text may be the beginning or a part of, the most used first."""
    return store.suggest(kind, text, min(limit, MAX_SUGGESTIONS))
