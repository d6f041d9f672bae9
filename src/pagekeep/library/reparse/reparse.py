"""Stored pages read again by a newer parser, offline, on all cores."""

from __future__ import annotations

import os
import signal
from asyncio import to_thread
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context
from typing import Final, Literal

from pagekeep import clock
from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.from_url import Retrieval, extract_page
from pagekeep.errors import NotFound, PagekeepError, ParseError, StoreError
from pagekeep.library import build_item
from pagekeep.library.items import get_item_and_raw
from pagekeep.model import PARSER_VERSION, Item, ItemMetadata, Options, Page, RawPage
from pagekeep.rules import Rulebook
from pagekeep.store import Store

IN_FLIGHT: Final = 4
"""Pages under way per process: enough that none waits for the store, few enough that memory stays small."""
WORTH_A_POOL: Final = 16
"""Fewer pages than this are read sooner than processes start."""

_LARGEST: Final = Options().max_bytes

Outcome = Literal["updated", "unchanged", "kept", "failed"]


@dataclass(frozen=True, slots=True)
class Reparsed:
    """What became of one item."""

    item: Item
    """As it was before."""
    outcome: Outcome
    """`unchanged`: read again with the same words; `kept`: the new reading is worse; `failed`: there is none."""
    note: str | None = None
    """Why it was kept, or failed."""
    content: str | None = None
    """The new reading, whether or not it was stored."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a reader process sends back: the parts of a page that are stored."""

    content: str
    title: str
    author: str | None
    published_at: str | None
    metadata: ItemMetadata


def stale_ids(store: Store, rules: Rulebook, limit: int | None = None) -> Iterator[str]:
    """Items whose stored page an older parser or other rules have read, oldest first."""
    return store.stale(parser_version=PARSER_VERSION, rules_hash=fingerprint(rules), limit=limit)


def reparse(
    store: Store,
    ids: Iterable[str],
    rules: Rulebook,
    *,
    force: bool = False,
    dry_run: bool = False,
    processes: int | None = None,
    max_bytes: int = _LARGEST,
) -> Iterator[Reparsed]:
    """Read the stored pages of these items again and put the results in, one after the other as they are asked for.

    What the user set stays, and so does a text that is the user's own version. A worse reading replaces nothing unless
    `force`; a failure leaves its item as it is; with `dry_run` nothing is written. Each item is done in one step, so a run
    that is killed goes on where it was.
    """
    wanted = iter(ids)
    first = list(islice(wanted, WORTH_A_POOL))
    count = (processes or os.cpu_count() or 1) if len(first) == WORTH_A_POOL else 1
    rest = chain(first, wanted)
    for item, reading in _read_all(_stored(store, rest), count, max_bytes, rules):
        yield _settle(store, item, reading, force=force, dry_run=dry_run)


_Stored = tuple[Item, RawPage | PagekeepError]


def _stored(store: Store, ids: Iterable[str]) -> Iterator[_Stored]:
    """The items with their pages, or why there is none; items that are gone by now are passed over."""
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
            yield item, raw or NotFound("The downloaded HTML of this page was not stored.")


def _settle(store: Store, item: Item, reading: _Reading | PagekeepError, *, force: bool, dry_run: bool) -> Reparsed:
    if isinstance(reading, PagekeepError):
        return Reparsed(item, "failed", reading.message)
    worse = None if force else build_item.why_worse(reading.metadata, item.metadata)
    if item.metadata.edited:
        worse = build_item.EDITED
    if worse:
        return Reparsed(item, "kept", worse, reading.content)
    if not dry_run:
        _write(store, item, reading)
    return Reparsed(item, "unchanged" if reading.content == item.content else "updated", None, reading.content)


def _write(store: Store, item: Item, reading: _Reading) -> None:
    store.replace_content(
        item.id,
        content=reading.content,
        title=reading.title,
        author=reading.author,
        published_at=reading.published_at,
        metadata=reading.metadata,
        now=clock.now(),
    )
    discarded = reading.metadata.discarded
    if item.metadata.discarded != discarded:  # out of the way with what a rule discards, and back with it
        store.set_metadata(item.id, clock.now(), archived=discarded)


def _read(raw: RawPage, url: str, saved_at: str, max_bytes: int, rules: Rulebook) -> _Reading | PagekeepError:
    """One page read again. Runs in a process of its own; a failure is a value, so that it comes back."""
    try:
        page = extract_page(build_item.fetched_again(raw), Options(max_bytes=max_bytes), rules)
    except PagekeepError as error:
        return error
    except Exception as error:  # a fault of ours on one page must not end the run: it is listed with the failures
        return ParseError(f"Reading the page failed unexpectedly ({type(error).__name__}: {error}).")
    return _reading(page, raw, url, saved_at, rules)


def _reading(page: Page, raw: RawPage, url: str, saved_at: str, rules: Rulebook) -> _Reading:
    from pagekeep.markdown import write_document  # it loads the parser

    return _Reading(
        content=write_document(page, saved_at=clock.to_the_second(saved_at)),
        title=build_item.title_of(page, url),
        author=page.metadata.author,
        published_at=page.metadata.published,
        metadata=build_item.derived(page, rendered=raw.rendered, rules_hash=fingerprint(rules)),
    )


async def reparse_one(
    key: str, store: Store, retrieval: Retrieval, *, force: bool = False, dry_run: bool = False
) -> Reparsed:
    """The same for one item, read the way `retrieval` reads; a failure to read it is raised."""
    item, raw = await to_thread(get_item_and_raw, store, key)
    options = Options(max_bytes=retrieval.settings.max_bytes)
    page = await retrieval.extract(build_item.fetched_again(raw), options)
    reading = _reading(page, raw, item.url, item.saved_at, retrieval.rules)
    return await to_thread(_settle, store, item, reading, force=force, dry_run=dry_run)


_Pair = tuple[Item, _Reading | PagekeepError]
_Coming = Future[_Reading | PagekeepError]


def _read_all(pages: Iterator[_Stored], processes: int, max_bytes: int, rules: Rulebook) -> Iterator[_Pair]:
    """Every page with its reading, in order; never more than a few under way."""
    if processes == 1:
        for item, raw in pages:
            yield item, raw if isinstance(raw, PagekeepError) else _read(raw, item.url, item.saved_at, max_bytes, rules)
        return
    with _Readers(processes, max_bytes, rules) as readers:
        for item, raw in pages:
            readers.begin(item, raw)
            if readers.full:
                yield readers.next()
        while readers.busy:
            yield readers.next()


class _Readers:
    """Processes that read pages, and those they are at. A page that kills its process is found and told apart."""

    def __init__(self, processes: int, max_bytes: int, rules: Rulebook) -> None:
        self._processes = processes
        self._max_bytes = max_bytes
        self._rules = rules
        self._pool = _pool(processes, rules)
        self._pending: deque[tuple[Item, RawPage | PagekeepError, _Coming]] = deque()

    def __enter__(self) -> _Readers:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    @property
    def busy(self) -> bool:
        return bool(self._pending)

    @property
    def full(self) -> bool:
        return len(self._pending) >= self._processes * IN_FLIGHT

    def begin(self, item: Item, raw: RawPage | PagekeepError) -> None:
        """Have a page read."""
        self._pending.append((item, raw, self._submit(item, raw)))

    def next(self) -> _Pair:
        """The oldest page under way, waiting for it."""
        item, raw, coming = self._pending.popleft()
        try:
            return item, coming.result()
        except (BrokenProcessPool, CancelledError):
            alone = self._read_alone(item, raw)
            self._restart()
            return item, alone

    def _submit(self, item: Item, raw: RawPage | PagekeepError) -> _Coming:
        coming: _Coming = Future()
        if isinstance(raw, PagekeepError):
            coming.set_result(raw)
            return coming
        try:
            return self._pool.submit(_read_by_rules_given, raw, item.url, item.saved_at, self._max_bytes)
        except BrokenProcessPool as error:  # a page before this one broke it; `next` sorts it out
            coming.set_exception(error)
            return coming

    def _read_alone(self, item: Item, raw: RawPage | PagekeepError) -> _Reading | PagekeepError:
        """Once more in a process for this page only: if that dies too, it is this page that kills it."""
        if isinstance(raw, PagekeepError):
            return raw
        with _pool(1, self._rules) as pool:
            try:
                return pool.submit(_read_by_rules_given, raw, item.url, item.saved_at, self._max_bytes).result()
            except BrokenProcessPool:
                return ParseError("Reading the page killed its process.", suggestions=())

    def _restart(self) -> None:
        """A new pool, with the pages that the old one lost."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = _pool(self._processes, self._rules)
        lost, self._pending = self._pending, deque()
        for item, raw, coming in lost:
            done = coming.done() and not coming.cancelled() and coming.exception() is None
            self._pending.append((item, raw, coming if done else self._submit(item, raw)))


def _pool(processes: int, rules: Rulebook) -> ProcessPoolExecutor:
    # Not forked: a child must not inherit the library's open files and their locks.
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_begin, initargs=(rules,))


_given: list[Rulebook] = []
"""In a process that reads: the rules it was started with. Sent once and not with every page."""


def _begin(rules: Rulebook) -> None:
    """Ctrl-C is for the parent, which then ends its children in order."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _given.append(rules)


def _read_by_rules_given(raw: RawPage, url: str, saved_at: str, max_bytes: int) -> _Reading | PagekeepError:
    return _read(raw, url, saved_at, max_bytes, _given[0])
