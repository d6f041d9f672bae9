"""Values of the archive: files that are kept with an item, versions of pages, watching them, and checks of addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pagekeep.values import dataclass

BlobRole = Literal["picture", "hero", "thumbnail", "screenshot", "pdf", "page_copy", "resource", "wacz"]
"""What a file is to its item."""
CopyKind = Literal["screenshot", "pdf", "html"]
"""A copy of a whole page: a picture of it, a PDF, or one HTML file with everything in it."""
COPY_KINDS: Final[tuple[CopyKind, ...]] = ("screenshot", "pdf", "html")
COPY_ROLES: Final[Mapping[CopyKind, BlobRole]] = {"screenshot": "screenshot", "pdf": "pdf", "html": "page_copy"}
LeftOut = Literal[
    "too_large",
    "too_many",
    "page_full",
    "library_full",
    "not_found",
    "refused",
    "unreachable",
    "timeout",
    "not_a_picture",
    "damaged",
    "not_wanted",
]
"""Why a file was not kept."""


@dataclass(frozen=True, slots=True)
class ItemBlob:
    """A file that is kept with an item, or that was left out. One per role, source and variant."""

    role: BlobRole
    source: str
    """The address it came from; for what we made ourselves, that of what it was made from."""
    state: Literal["kept", "left_out"]
    created_at: str
    media_type: str = ""
    hash: str | None = None
    """SHA-256 of its bytes, in hexadecimal; `None` when it was left out."""
    size: int | None = None
    """Bytes; of a file that was left out, if known."""
    width: int | None = None
    height: int | None = None
    reason: str | None = None
    """Why it was left out, as a code of `LeftOut`; or what was changed in a kept one, such as `downscaled`."""
    variant: str = ""
    """Distinguishes several with the same role and source, such as versions by their time."""
    position: int = 0
    """Order among those of its role."""


@dataclass(frozen=True, slots=True)
class BlobUse:
    """Number and bytes of some files."""

    count: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Storage:
    """What a library takes, in bytes on the disk."""

    text: int
    """Texts of the items."""
    raw_pages: BlobUse
    """Pages as they were fetched, with earlier versions."""
    snapshots: BlobUse
    """Of these, those that only earlier versions use."""
    blobs: BlobUse
    """All kept files, each once."""
    roles: Mapping[str, BlobUse]
    """Kept files by role. A file with two roles counts in both."""
    unused: BlobUse
    """Files that no item uses, until they are removed."""
    left_out: int
    """Files that could not be kept."""
    sites: tuple[tuple[str, int], ...]
    """Sites with the bytes of their raw pages and kept files, the largest first."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What a garbage collection removed."""

    count: int
    bytes: int
    waiting: int
    """Unused files that wait for the end of the grace period."""


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
