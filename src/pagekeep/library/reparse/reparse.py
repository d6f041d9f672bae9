"""Reparse: extract stored pages again with a newer parser, offline, on all cores."""

from __future__ import annotations

import os
import signal
from asyncio import to_thread
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from itertools import chain, islice
from multiprocessing import get_context
from typing import Final, Literal

from pagekeep import clock
from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.from_url import Captured, Retrieval, extract_page
from pagekeep.errors import NotFound, PagekeepError, ParseError, StoreError
from pagekeep.library import build_item
from pagekeep.library.items import get_item_and_raw
from pagekeep.model import PARSER_VERSION, Fetched, Item, Options, Page, RawPage
from pagekeep.rules import Rulebook
from pagekeep.store import Store

IN_FLIGHT: Final = 4
"""Pages in progress per process: enough that none waits for the store, few enough that memory stays small."""
MIN_PAGES_FOR_POOL: Final = 16
"""Fewer pages are extracted faster than processes start."""
_MAX_BYTES: Final = Options().max_bytes

Outcome = Literal["updated", "unchanged", "kept", "failed"]


@dataclass(frozen=True, slots=True)
class ReparseResult:
    """The result for one item."""

    item: Item
    """As it was before."""
    outcome: Outcome
    """`unchanged`: the new text is the same; `kept`: the new result is worse; `failed`: there is no new result."""
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
    for item, extracted in _extract_all(stored, count, rules):
        yield _settle(store, item, extracted, force=force, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class _Task:
    """A stored page to extract, as a worker process gets it."""

    item: Item
    """Without its text, which is not needed there."""
    raw: RawPage
    options: Options

    def extract(self, rules: Rulebook) -> Item | PagekeepError:
        """Return the item that the page makes now. A failure is returned, so that it reaches the parent process."""
        try:
            page = extract_page(build_item.to_fetched(self.raw), self.options, rules)
        except PagekeepError as error:
            return error
        except Exception as error:  # a bug on one page must not end the run: it is reported with the failures
            return ParseError(f"Extracting the page failed unexpectedly ({type(error).__name__}: {error}).")
        return _build(page, build_item.to_fetched(self.raw), self.item, rules)


_Stored = tuple[Item, _Task | PagekeepError]


def _read_stored(store: Store, ids: Iterable[str], max_bytes: int) -> Iterator[_Stored]:
    """Yield the items with the task to extract them, or the error when there is no page; purged items are skipped."""
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
            yield item, _Task(replace(item, content=""), raw, Options(max_bytes=max_bytes))


def _settle(store: Store, item: Item, extracted: Item | PagekeepError, *, force: bool, dry_run: bool) -> ReparseResult:
    if isinstance(extracted, PagekeepError):
        return ReparseResult(item, "failed", extracted.message)
    result = _compare(item, extracted, force)
    if result.outcome != "kept" and not dry_run:
        _write(store, item, extracted)
    return result


def compare_page(item: Item, captured: Captured, rules: Rulebook, *, force: bool) -> ReparseResult:
    """Return what storing a new capture of the item would change; nothing is stored."""
    return _compare(item, _build(captured.page, captured.fetched, item, rules), force)


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
    )
    # A page that a rule discards is archived, and comes back when the rule is gone.
    discarded = extracted.metadata.discarded
    if item.metadata.discarded != discarded:
        store.set_metadata(item.id, clock.now(), archived=discarded)


def _build(page: Page, fetched: Fetched, item: Item, rules: Rulebook) -> Item:
    """Return the item as a save of the same page would make it."""
    return build_item.new_item(
        page,
        fetched,
        url=item.url,
        url_full=item.url_full,
        user_id=item.user_id,
        now=item.updated_at,
        saved_at=item.saved_at,
        tags=(),
        rules_hash=fingerprint(rules),
        source=item.source,
    )


async def reparse_one(
    key: str, store: Store, retrieval: Retrieval, *, force: bool = False, dry_run: bool = False
) -> ReparseResult:
    """Reparse one item, extracted by `retrieval`; a failure is raised."""
    item, raw = await to_thread(get_item_and_raw, store, key)
    options = Options(max_bytes=retrieval.settings.max_bytes)
    fetched = build_item.to_fetched(raw)
    extracted = _build(await retrieval.extract(fetched, options), fetched, item, retrieval.rules)
    return await to_thread(_settle, store, item, extracted, force=force, dry_run=dry_run)


_Pair = tuple[Item, Item | PagekeepError]
_Pending = Future[Item | PagekeepError]


def _extract_all(pages: Iterator[_Stored], processes: int, rules: Rulebook) -> Iterator[_Pair]:
    """Yield every page with its result, in order, with only a few pages in progress."""
    if processes == 1:
        for item, task in pages:
            yield item, task if isinstance(task, PagekeepError) else task.extract(rules)
        return
    with _WorkerPool(processes, rules) as pool:
        for item, task in pages:
            pool.submit(item, task)
            if pool.full:
                yield pool.next()
        while pool.busy:
            yield pool.next()


class _WorkerPool:
    """Worker processes and the pages they extract; a page that kills its process is identified."""

    def __init__(self, processes: int, rules: Rulebook) -> None:
        self._processes = processes
        self._rules = rules
        self._pool = _pool(processes, rules)
        self._pending: deque[tuple[Item, _Task | PagekeepError, _Pending]] = deque()

    def __enter__(self) -> _WorkerPool:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    @property
    def busy(self) -> bool:
        return bool(self._pending)

    @property
    def full(self) -> bool:
        return len(self._pending) >= self._processes * IN_FLIGHT

    def submit(self, item: Item, task: _Task | PagekeepError) -> None:
        """Start extracting a page."""
        self._pending.append((item, task, self._submit(task)))

    def next(self) -> _Pair:
        """Wait for the oldest page in progress and return its result."""
        item, task, future = self._pending.popleft()
        try:
            return item, future.result()
        except (BrokenProcessPool, CancelledError):
            alone = self._extract_alone(task)
            self._restart()
            return item, alone

    def _submit(self, task: _Task | PagekeepError) -> _Pending:
        future: _Pending = Future()
        if isinstance(task, PagekeepError):
            future.set_result(task)
            return future
        try:
            return self._pool.submit(_extract_with_loaded_rules, task)
        except BrokenProcessPool as error:  # an earlier page broke the pool; `next` handles it
            future.set_exception(error)
            return future

    def _extract_alone(self, task: _Task | PagekeepError) -> Item | PagekeepError:
        """Extract the page again in a process of only this page: if that dies too, this page kills it."""
        if isinstance(task, PagekeepError):
            return task
        with _pool(1, self._rules) as pool:
            try:
                return pool.submit(_extract_with_loaded_rules, task).result()
            except BrokenProcessPool:
                return ParseError("Extracting the page killed its process.", suggestions=())

    def _restart(self) -> None:
        """Start a new pool, with the pages that the old one lost."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = _pool(self._processes, self._rules)
        lost, self._pending = self._pending, deque()
        for item, task, future in lost:
            done = future.done() and not future.cancelled() and future.exception() is None
            self._pending.append((item, task, future if done else self._submit(task)))


def _pool(processes: int, rules: Rulebook) -> ProcessPoolExecutor:
    # Not forked: a child must not inherit the library's open files and their locks.
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_start_worker, initargs=(rules,))


_loaded_rules: list[Rulebook] = []
"""In a worker process: the rules, sent once at its start and not with every page."""


def _start_worker(rules: Rulebook) -> None:
    """Start a worker process. It ignores Ctrl-C: the parent stops its workers in order."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _loaded_rules.append(rules)


def _extract_with_loaded_rules(task: _Task) -> Item | PagekeepError:
    return task.extract(_loaded_rules[0])
