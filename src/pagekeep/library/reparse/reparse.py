"""Reparse: extract stored pages again with a newer parser, offline, on all cores."""

from __future__ import annotations

import os
import pickle
from asyncio import to_thread
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from typing import Any, Final, Literal

from pagekeep import clock
from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.extract import extract_page
from pagekeep.capture.from_url import Captured, Retrieval
from pagekeep.errors import NotFound, Outdated, PagekeepError, StoreError
from pagekeep.library import build_item
from pagekeep.library.items import get_item_and_raw
from pagekeep.library.pictures.job import request_pictures
from pagekeep.model import PARSER_VERSION, Fetched, Item, Options, Page, RawPage
from pagekeep.rules import Rulebook
from pagekeep.store import Store
from pagekeep.workers import PAGE, Pool

_BATCH: Final = 4
"""Pages sent to a process at a time: enough that none waits for the store, few enough that memory stays small."""
MIN_PAGES_FOR_POOL: Final = 16
"""Fewer pages are extracted faster in one process than several start."""
_MAX_BYTES: Final = Options().max_bytes
_CHANGED: Final = "the page was saved or edited in the meantime"

Outcome = Literal["updated", "unchanged", "kept", "failed"]


@dataclass(frozen=True, slots=True)
class ReparseResult:
    """The result for one item."""

    item: Item
    """As it was before."""
    outcome: Outcome
    """`unchanged`: the new text is the same; `kept`: the new result is worse or too late; `failed`: there is no new result."""
    note: str | None = None
    """Why it was kept, or failed."""
    content: str | None = None
    """The new text, whether or not it was stored."""


def stale_ids(store: Store, rules: Rulebook, limit: int | None = None) -> Iterator[str]:
    """Yield ids of items whose stored page an older parser or other rules extracted, oldest first."""
    return store.stale(parser_version=PARSER_VERSION, rules_hash=fingerprint(rules), limit=limit)


def reparse(
    store: Store,
    ids: Iterable[str],
    rules: Rulebook,
    *,
    force: bool = False,
    dry_run: bool = False,
    processes: int | None = None,
    max_bytes: int = _MAX_BYTES,
) -> Iterator[ReparseResult]:
    """Extract the stored pages of these items again and store the results, each when the caller asks for the next.

    What the user set stays, and so does a text that the user edited. A worse result replaces nothing unless `force`; a
    failure leaves its item as it is; with `dry_run` nothing is stored. Each item is stored in one step, so a run that is
    killed can be continued.
    """
    remaining = iter(ids)
    first = list(islice(remaining, MIN_PAGES_FOR_POOL))
    count = (processes or os.cpu_count() or 1) if len(first) == MIN_PAGES_FOR_POOL else 1
    stored = _read_stored(store, chain(first, remaining), max_bytes)
    for item, extracted in extract_all(stored, count, rules, _TASK):
        try:
            result = _settle(store, item, extracted, force=force, dry_run=dry_run)
        except NotFound:  # it was purged while it was extracted
            continue
        yield result


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A stored page to extract, as a worker process gets it."""

    item: Item
    """Without its text, which is not needed there."""
    raw: RawPage
    options: Options


Stored = tuple[Item, StoredPage | PagekeepError]


def _read_stored(store: Store, ids: Iterable[str], max_bytes: int) -> Iterator[Stored]:
    """Yield the items with the job to extract them, or the error when there is no page; purged items are skipped."""
    for item_id in ids:
        try:
            item = store.get(item_id)
        except NotFound:
            continue
        try:
            raw = store.raw(item.id)
        except StoreError as error:
            yield item, error
        else:
            if raw is None:
                yield item, NotFound("The downloaded HTML of this page was not stored.")
                continue
            yield item, StoredPage(replace(item, content=""), raw, Options(max_bytes=max_bytes))


def _settle(store: Store, item: Item, extracted: Item | PagekeepError, *, force: bool, dry_run: bool) -> ReparseResult:
    if isinstance(extracted, PagekeepError):
        return ReparseResult(item, "failed", extracted.message)
    result = _compare(item, extracted, force)
    if result.outcome != "kept" and not dry_run:
        try:
            _write(store, item, extracted)
        except Outdated:  # a newer save must not be replaced by an older page
            return ReparseResult(item, "kept", _CHANGED, extracted.content)
    return result


def compare_page(item: Item, captured: Captured, rules: Rulebook, *, force: bool) -> ReparseResult:
    """Return what storing a new capture of the item would change; nothing is stored."""
    return _compare(item, build(captured.page, captured.fetched, item, rules, None), force)


def _compare(item: Item, extracted: Item, force: bool) -> ReparseResult:
    worse = None if force else build_item.why_worse(extracted.metadata, item.metadata)
    if item.metadata.edited:
        worse = build_item.EDITED
    if worse:
        return ReparseResult(item, "kept", worse, extracted.content)
    return ReparseResult(item, "unchanged" if extracted.content == item.content else "updated", None, extracted.content)


def _write(store: Store, item: Item, extracted: Item) -> None:
    store.replace_content(
        item.id,
        content=extracted.content,
        title=extracted.title,
        author=extracted.author,
        published_at=extracted.published_at,
        metadata=extracted.metadata,
        now=clock.now(),
        replaces=item.content,
    )
    # A page that a rule discards is archived, and comes back when the rule is gone.
    discarded = extracted.metadata.discarded
    if item.metadata.discarded != discarded:
        store.set_metadata(item.id, clock.now(), archived=discarded)


def build(page: Page, fetched: Fetched, item: Item, rules: Rulebook, options: Options | None) -> Item:
    """Return the item as a save of the same page would make it."""
    return build_item.make_again(item, page, fetched, fingerprint(rules), options)


async def reparse_one(
    key: str, store: Store, retrieval: Retrieval, *, force: bool = False, dry_run: bool = False
) -> ReparseResult:
    """Reparse one item, extracted by `retrieval`; a failure is raised."""
    item, raw = await to_thread(get_item_and_raw, store, key)
    options = Options(max_bytes=retrieval.settings.max_bytes)
    fetched = build_item.to_fetched(raw)
    extracted = build(await retrieval.extract(fetched, options), fetched, item, retrieval.rules, options)
    result = await to_thread(_settle, store, item, extracted, force=force, dry_run=dry_run)
    if result.outcome == "updated" and not dry_run:
        stored = await to_thread(store.get, item.id)
        await to_thread(request_pictures, store, stored, retrieval.settings, again=False)
    return result


def extract_stored(sent: tuple[StoredPage | PagekeepError, bytes]) -> Item:
    """Return the item that a page makes now; runs in a worker process."""
    page, job = extract_stored_page(sent)
    return build(page, build_item.to_fetched(job.raw), job.item, _read_rules(sent[1]), job.options)


def extract_stored_page(sent: tuple[StoredPage | PagekeepError, bytes]) -> tuple[Page, StoredPage]:
    """Return what is extracted from a page, and the page; runs in a worker process. The rules are pickled, and read once."""
    job = sent[0]
    if isinstance(job, PagekeepError):
        raise job
    return extract_page(build_item.to_fetched(job.raw), job.options, _read_rules(sent[1])), job


@lru_cache(maxsize=2)
def _read_rules(data: bytes) -> Rulebook:
    rules: Rulebook = pickle.loads(data)
    return rules


_TASK: Final = f"{__name__}:{extract_stored.__name__}"


def extract_all(pages: Iterator[Stored], processes: int, rules: Rulebook, task: str) -> Iterator[tuple[Item, Any]]:
    """Yield every page with what the task returns, or its `PagekeepError`, in order, with only a few pages in progress."""
    data = pickle.dumps(rules, pickle.HIGHEST_PROTOCOL)
    sent: deque[Item] = deque()

    def jobs() -> Iterator[tuple[StoredPage | PagekeepError, bytes]]:
        for item, job in pages:
            sent.append(item)
            yield job, data

    with Pool(task, processes, PAGE) as pool:
        pool.fork()
        for result, error, _ in pool.map(jobs(), batch=_BATCH):
            yield sent.popleft(), result if error is None else error
