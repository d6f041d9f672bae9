"""A user's library on any engine: every method is one transaction, what is done in it stands in the module of its verb."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

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
from pagekeep.store.contract import Order
from pagekeep.store.engine import Engine
from pagekeep.store.tables import annotations as passages
from pagekeep.store.tables import batch, domain_memory, idempotency, items, jobs, listing, raw_pages, statistics
from pagekeep.store.tables import search as searching


class Library:
    """The `Store` that both engines share."""

    def __init__(self, engine: Engine, *, keep_raw: bool = True) -> None:
        self._engine = engine
        self._keep_raw = keep_raw
        self.user_id = engine.user_id

    def close(self) -> None:
        self._engine.close()

    def upsert(self, item: Item, raw: RawPage | None) -> Item:
        kept = raw if self._keep_raw else None
        return self._engine.write(lambda tx: items.upsert(tx, item, kept))

    def upsert_many(
        self, entries: Sequence[NewItem], merge: Callable[[Item, Item], Item]
    ) -> tuple[tuple[Item, PutResult], ...]:
        kept = entries if self._keep_raw else [replace(entry, raw=None) for entry in entries]
        return self._engine.write(lambda tx: batch.upsert_many(tx, kept, merge))

    def get(self, key: str) -> Item:
        return self._engine.read(lambda tx: items.get(tx, key))

    def find_url(self, url: str) -> Item | None:
        return self._engine.read(lambda tx: items.find_url(tx, url))

    def raw(self, item_id: str) -> RawPage | None:
        return self._engine.read(lambda tx: raw_pages.get(tx, item_id))

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
        return self._engine.write(
            lambda tx: items.replace_content(
                tx,
                item_id,
                content=content,
                title=title,
                author=author,
                published_at=published_at,
                metadata=metadata,
                now=now,
            )
        )

    def set_metadata(
        self, item_id: str, now: str, *, unchanged_since: str | None = None, **changes: Unpack[MetadataChanges]
    ) -> Item:
        return self._engine.write(lambda tx: items.set_metadata(tx, item_id, changes, now, unchanged_since))

    def mark_opened(self, item_id: str, now: str) -> Item:
        return self._engine.write(lambda tx: items.mark_opened(tx, item_id, now))

    def delete(self, item_id: str, now: str) -> Item:
        return self._engine.write(lambda tx: items.set_deleted(tx, item_id, now, now))

    def restore(self, item_id: str, now: str) -> Item:
        return self._engine.write(lambda tx: items.set_deleted(tx, item_id, None, now))

    def purge(self, item_ids: Sequence[str] | None = None, *, deleted_before: str | None = None) -> int:
        return self._engine.write(lambda tx: items.purge(tx, item_ids, deleted_before))

    def list_items(
        self,
        filter: ItemFilter,
        *,
        order: Order = "saved",
        descending: bool = True,
        limit: int = 50,
        after: str | None = None,
    ) -> ItemPage:
        return self._engine.read(
            lambda tx: listing.list_items(tx, filter, order=order, descending=descending, limit=limit, after=after)
        )

    def search(self, query: str, *, limit: int = 20, after: str | None = None) -> HitPage:
        return self._engine.read(lambda tx: searching.search(tx, query, limit, after))

    def stats(self) -> Mapping[str, Any]:
        return self._engine.read(statistics.stats)

    def stale(self, *, parser_version: int, rules_hash: str | None, limit: int | None = None) -> Iterator[str]:
        """In batches by key, so that the caller may write each before it asks for the next."""
        left, after = limit, ("", "")
        while left is None or left > 0:
            size, place = statistics.BATCH if left is None else min(left, statistics.BATCH), after
            batch = self._engine.read(
                lambda tx, place=place, size=size: statistics.stale(tx, parser_version, rules_hash, place, size)  # type: ignore[misc]
            )
            yield from (item_id for _, item_id in batch)
            if len(batch) < size:
                return
            after = batch[-1]
            left = None if left is None else left - len(batch)

    def versions(self) -> Sequence[tuple[str, str]]:
        return self._engine.read(statistics.versions)

    def enqueue(self, url: str, url_full: str, options: Mapping[str, Any], now: str) -> Job:
        return self._engine.write(lambda tx: jobs.enqueue(tx, url, url_full, options, now))

    def enqueue_many(self, addresses: Sequence[tuple[str, str]], options: Mapping[str, Any], now: str) -> int:
        return self._engine.write(lambda tx: jobs.enqueue_many(tx, addresses, options, now))

    def lease(self, worker: str, now: str, until: str) -> Job | None:
        everyone = self._engine.everyone
        return self._engine.write(lambda tx: jobs.lease(tx, worker, now, until, everyone=everyone))

    def heartbeat(self, job_id: str, worker: str, until: str) -> bool:
        return self._engine.write(lambda tx: jobs.heartbeat(tx, job_id, worker, until))

    def finish(
        self, job_id: str, worker: str, item_id: str | None = None, report: Mapping[str, Any] | None = None
    ) -> bool:
        return self._engine.write(lambda tx: jobs.finish(tx, job_id, worker, item_id, report))

    def fail(self, job_id: str, worker: str, error: Mapping[str, Any], *, retry_at: str | None) -> bool:
        return self._engine.write(lambda tx: jobs.fail(tx, job_id, worker, error, retry_at))

    def put_back(self, job_id: str, worker: str, so_far: Mapping[str, Any], now: str) -> bool:
        return self._engine.write(lambda tx: jobs.put_back(tx, job_id, worker, so_far, now))

    def job(self, job_id: str) -> Job:
        return self._engine.read(lambda tx: jobs.get(tx, job_id))

    def jobs(self, state: str | None = None, limit: int = 100) -> tuple[Job, ...]:
        return self._engine.read(lambda tx: jobs.jobs(tx, state, limit))

    def job_counts(self) -> Mapping[str, int]:
        everyone = self._engine.everyone
        return self._engine.read(lambda tx: jobs.counts(tx, everyone=everyone))

    def revive(self, job_id: str, now: str) -> Job:
        return self._engine.write(lambda tx: jobs.revive(tx, job_id, now))

    def forget(self, job_id: str) -> None:
        self._engine.write(lambda tx: jobs.forget(tx, job_id))

    def memory(self, domain: str) -> Mapping[str, Any] | None:
        return self._engine.read(lambda tx: domain_memory.memory(tx, domain))

    def remember(self, domain: str, memory: Mapping[str, Any], now: str) -> None:
        self._engine.write(lambda tx: _remember(tx, domain, memory, now))

    def annotate(self, annotation: Annotation) -> Annotation:
        return self._engine.write(lambda tx: passages.put(tx, annotation))

    def annotations(self, item_id: str) -> tuple[Annotation, ...]:
        return self._engine.read(lambda tx: passages.of_item(tx, item_id))

    def drop_annotation(self, annotation_id: str) -> None:
        self._engine.write(lambda tx: passages.drop(tx, annotation_id))

    def claim(
        self, key: str, request: str, now: str, since: str, silent: str
    ) -> tuple[str, Mapping[str, Any] | None] | None:
        return self._engine.write(lambda tx: idempotency.claim(tx, key, request, now, since, silent))

    def renew_claim(self, key: str, claimed: str, now: str) -> bool:
        return self._engine.write(lambda tx: idempotency.renew(tx, key, claimed, now))

    def keep_answer(self, key: str, claimed: str, answer: Mapping[str, Any] | None) -> None:
        self._engine.write(lambda tx: idempotency.keep(tx, key, claimed, answer))

    def backup(self, path: str) -> None:
        self._engine.backup(path)

    def check(self) -> list[str]:
        return [*self._engine.faults(), *self._engine.read(statistics.faults)]


_remember = domain_memory.remember
