"""Values about pages over time: their versions, what is done regularly, changes, and checks of addresses. All frozen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pagekeep.values import dataclass


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One stored version of a page, without its body."""

    item_id: str
    number: int
    """Counts from 1 for each item; a version that is dropped leaves a gap."""
    hash: str
    """SHA-256 of the raw page."""
    size: int
    """Bytes of the raw page."""
    fetched_at: str
    final_url: str
    status: int
    rendered: bool
    source: str
    """How it was captured: as of an item, or `restored`."""
    pinned: bool = False
    """Kept whatever the limits on the number and age of versions are."""
    current: bool = False
    """Whether it is the version that the item shows."""


@dataclass(frozen=True, slots=True)
class Retention:
    """Which versions of a page stay when a new one is added; the current and pinned ones always do."""

    count: int = 50
    """At most this many, the newest; 0 sets no limit."""
    since: str | None = None
    """None fetched before this time."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Something that is done regularly."""

    id: str
    user_id: str
    task: str
    """What is done: `watch` or `links`."""
    subject: str
    """To what: the id of an item, or empty for the whole library."""
    address: str
    """Shown for its jobs."""
    every: int
    """Seconds from one run to the next."""
    attempts: int
    """Failed runs since the last that succeeded; each doubles the time to the next."""
    next_at: str
    last_run_at: str | None
    created_at: str
    state: Mapping[str, Any]
    """What the task remembers from one run to the next."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a watched page, in the inbox of changes."""

    id: str
    item_id: str
    before: int
    """The number of the version before."""
    after: int
    added: int
    """Words."""
    removed: int
    excerpt: str
    """The first words that are new, or else those that were removed."""
    found_at: str
    seen_at: str | None = None


@dataclass(frozen=True, slots=True)
class PageCheck:
    """When an item's address was last requested, and with what result."""

    item_id: str
    checked_at: str
    next_at: str
    """When it is checked again."""
    state: Literal["ok", "gone", "blocked", "unreachable"]
    """Of the last request; `gone` is a finding only after several, see `ItemMetadata.link`."""
    failures: int = 0
    """In a row, all of them `gone`."""
    first_failed_at: str | None = None
    reason: str | None = None
