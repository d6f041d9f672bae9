"""What every store must do. One test suite holds all of them to it.

A store is opened for one user: every method sees and touches that user's rows alone. Moments are ISO 8601 in UTC
(`2025-03-19T10:30:00.123456Z`) and come from the caller. All failures are `StoreError`, or `NotFound` for what is not there.
Every method is one transaction; what was acknowledged survives a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, Unpack

from pagekeep.model import (
    Annotation,
    HitPage,
    Item,
    ItemFilter,
    ItemMetadata,
    ItemPage,
    Job,
    MetadataChanges,
    NewItem,
    PutResult,
    RawPage,
)

Order = Literal["saved", "opened", "title", "published"]


class Store(Protocol):
    """A user's library."""

    user_id: str

    def close(self) -> None:
        """Let go of files and connections."""

    # Items

    def upsert(self, item: Item, raw: RawPage | None) -> Item:
        """Put a page in, once per normalised URL.

        On a page that is there: content, title, author, published_at, url_full, source and the derived metadata are
        replaced; id, created_at, saved_at, last_opened_at and what the user set (pinned, archived, tags, notes) stay; tags
        of the new item are added; a deleted item is restored. The item as stored comes back.
        """

    def upsert_many(
        self, entries: Sequence[NewItem], merge: Callable[[Item, Item], Item]
    ) -> tuple[tuple[Item, PutResult], ...]:
        """Put many pages in, all or none; each as stored, and what became of it.

        On a page that is there, `merge(old, new)` is what it becomes; it must have no other effect, and the old item itself
        leaves it alone. The raw page is kept where the content is the new one's. Annotations are added unless one with
        their id is there. An id that is another page's is replaced.
        """

    def get(self, key: str) -> Item:
        """By id, unique prefix of an id (at least 4 characters), or normalised URL; deleted ones too. `NotFound`;
        `StoreError` when ambiguous."""

    def find_url(self, url: str) -> Item | None:
        """By normalised URL, deleted or not."""

    def raw(self, item_id: str) -> RawPage | None:
        """The page as it was fetched, if it was kept."""

    def replace_content(
        self,
        item_id: str,
        *,
        content: str,
        title: str,
        author: str | None,
        published_at: str | None,
        metadata: ItemMetadata,
        now: str,
    ) -> Item:
        """A new reading of the same page (reparse): the derived fields of the metadata are replaced, the user's stay.

        With `edited` in the metadata it is the user's own version, which no later reading replaces, be it by this or
        by `upsert`, until `edited` is taken off the item. A result better than a bookmark clears the count of retries.
        """

    def set_metadata(
        self, item_id: str, now: str, *, unchanged_since: str | None = None, **changes: Unpack[MetadataChanges]
    ) -> Item:
        """Change some fields of the metadata. `Outdated` when the item's `updated_at` is another than `unchanged_since`."""

    def mark_opened(self, item_id: str, now: str) -> Item: ...

    def delete(self, item_id: str, now: str) -> Item:
        """Soft: it stays until purged."""

    def restore(self, item_id: str, now: str) -> Item: ...

    def purge(self, item_ids: Sequence[str] | None = None, *, deleted_before: str | None = None) -> int:
        """Remove deleted items for good, with raw pages nobody else uses; how many went."""

    def list_items(
        self,
        filter: ItemFilter,
        *,
        order: Order = "saved",
        descending: bool = True,
        limit: int = 50,
        after: str | None = None,
    ) -> ItemPage:
        """One page, by key and not by offset: nothing is skipped or repeated when items come and go meanwhile."""

    def search(self, query: str, *, limit: int = 20, after: str | None = None) -> HitPage:
        """Ranked full text in title, author, tags and content, any script; the query language of `store/query.py`."""

    def stats(self) -> Mapping[str, Any]:
        """Counts: items, by quality, archived, pinned, deleted, domains, words; bytes of raw pages."""

    def stale(self, *, parser_version: int, rules_hash: str | None, limit: int | None = None) -> Iterator[str]:
        """Ids of items with a raw page that an older parser or other rules made, oldest saved first."""

    def versions(self) -> Sequence[tuple[str, str]]:
        """(id, version) of every item that is not deleted, by id: whatever changes an item or its marked passages changes
        the version, so that a copy of the library can be kept up to date."""

    # Jobs: saves that wait for a worker

    def enqueue(self, url: str, url_full: str, options: Mapping[str, Any], now: str) -> Job:
        """A new job, or the unfinished one for this URL."""

    def enqueue_many(self, addresses: Sequence[tuple[str, str]], options: Mapping[str, Any], now: str) -> int:
        """Jobs for pages (normalised address, and as given) that do not wait already; how many are new."""

    def lease(self, worker: str, now: str, until: str) -> Job | None:
        """The next job that is due (queued, or running with an expired lease), leased to this worker; all users' when the
        store was opened for workers. Of tasks that are no saves (`pagekeep:...`) a user has one at a time."""

    def heartbeat(self, job_id: str, worker: str, until: str) -> bool:
        """Extend the lease; False when it was lost."""

    def finish(
        self, job_id: str, worker: str, item_id: str | None = None, report: Mapping[str, Any] | None = None
    ) -> bool:
        """The job is done, and made this item or has this to tell; False when the lease was lost."""

    def fail(self, job_id: str, worker: str, error: Mapping[str, Any], *, retry_at: str | None) -> bool:
        """Back to the queue at `retry_at`, or to the dead letters when that is `None`."""

    def put_back(self, job_id: str, worker: str, so_far: Mapping[str, Any], now: str) -> bool:
        """A part is done: back to the queue with how far it is, under `so_far` in its options, as if not tried before; False
        when the lease was lost."""

    def job(self, job_id: str) -> Job:
        """By id; `NotFound`."""

    def jobs(self, state: str | None = None, limit: int = 100) -> tuple[Job, ...]: ...

    def job_counts(self) -> Mapping[str, int]:
        """How many jobs are queued, running and dead; all users' when the store was opened for workers."""

    def revive(self, job_id: str, now: str) -> Job:
        """A dead job back to the queue."""

    def forget(self, job_id: str) -> None:
        """A dead job goes; one that waits or is done stays. `NotFound`."""

    # Memory of what worked for a domain

    def memory(self, domain: str) -> Mapping[str, Any] | None: ...

    def remember(self, domain: str, memory: Mapping[str, Any], now: str) -> None: ...

    # Passages the reader marked

    def annotate(self, annotation: Annotation) -> Annotation:
        """Add it, or change the one with its id; `NotFound` when its item is not there."""

    def annotations(self, item_id: str) -> tuple[Annotation, ...]:
        """An item's, oldest first."""

    def drop_annotation(self, annotation_id: str) -> None: ...

    # Requests that must not be done twice

    def claim(
        self, key: str, request: str, now: str, since: str, silent: str
    ) -> tuple[str, Mapping[str, Any] | None] | None:
        """`None` when the idempotency key is new and now the caller's; else the request it stands for, and its answer once
        there is one. Keys older than `since` are forgotten; the same request takes over a claim that was last renewed before
        `silent` and never answered."""

    def renew_claim(self, key: str, claimed: str, now: str) -> bool:
        """Say that the claim of that moment is still worked on; it is then of this one. `False` when another has it."""

    def keep_answer(self, key: str, claimed: str, answer: Mapping[str, Any] | None) -> None:
        """What was answered; `None` lets go of a key whose request failed. Nothing when the claim is another's by now."""

    # Care

    def backup(self, path: str) -> None:
        """A consistent copy while others write (SQLite: one file; PostgreSQL: a dump our restore reads)."""

    def check(self) -> list[str]:
        """Faults found; empty when all is well."""
