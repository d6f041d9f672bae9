"""Reparse: extract stored pages again with a newer parser, offline, on all cores, at once or as a job."""

from __future__ import annotations

import asyncio
import os
import pickle
from asyncio import to_thread
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from typing import Any, Final, Literal

from pagekeep import clock
from pagekeep.capture.active_rules import fingerprint
from pagekeep.capture.extract import extract_page
from pagekeep.capture.from_url import Captured, Retrieval
from pagekeep.errors import NotFound, Outdated, PagekeepError, StoreError
from pagekeep.library.archive.keep_pictures import request_pictures
from pagekeep.library.items import build_item
from pagekeep.library.items.find import get_item, get_item_and_raw, walk_items
from pagekeep.library.queue import SLICE_SECONDS, SliceResult
from pagekeep.library.saving.idempotency import request_fingerprint
from pagekeep.model import PARSER_VERSION, Fetched, Item, Job, Options, Page, RawPage
from pagekeep.rules import Rulebook
from pagekeep.store import Store, parse_query
from pagekeep.store.tables.jobs import SO_FAR
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
    return store.items.stale_ids(parser_version=PARSER_VERSION, rules_hash=fingerprint(rules), limit=limit)


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
            item = store.items.get(item_id)
        except NotFound:
            continue
        try:
            raw = store.items.raw(item.id)
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
    store.items.replace_content(
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
        store.items.set_metadata(item.id, clock.now(), archived=discarded)


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
        stored = await to_thread(store.items.get, item.id)
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


TASK: Final = "reparse"
"""The value of `task` in the options of these jobs."""
OUTCOMES: Final = ("updated", "unchanged", "kept", "failed")
_MAX_NOTES: Final = 100
"""Notes in the report of a job."""
_PROGRESS_SECONDS: Final = 0.5
"""Seconds between two reports of progress."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which items to reparse; by default those that an older parser or other rules extracted."""

    keys: tuple[str, ...] | None = None
    """Ids, beginnings of ids, or addresses. An empty list selects nothing."""
    domain: str | None = None
    query: str | None = None
    """In the query language of `pagekeep search`."""
    limit: int | None = None


def select_ids(store: Store, rules: Rulebook, selection: Selection) -> Iterator[str]:
    """Return the ids of the selected items, oldest first; `NotFound` for an unknown key."""
    if selection.keys is not None:
        return iter([get_item(store, key).id for key in selection.keys][: selection.limit])
    if selection.query is not None:
        return (item.id for item in walk_items(store, selection.query, limit=selection.limit))
    if selection.domain is not None:
        return (item.id for item in walk_items(store, domain=selection.domain, limit=selection.limit))
    return stale_ids(store, rules, selection.limit)


def enqueue_reparse(store: Store, selection: Selection, *, force: bool = False) -> Job:
    """Return a job for these items, or the one that already waits for the same selection.

    `NotFound` for an unknown key, `InvalidQuery` for an invalid query.
    """
    if selection.keys is not None:
        selection = replace(selection, keys=tuple(get_item(store, key).id for key in selection.keys))
    if selection.query is not None:
        parse_query(selection.query)
    options = {name: value for name, value in asdict(selection).items() if value is not None}
    if force:
        options["force"] = True
    address = f"pagekeep:reparse/{request_fingerprint(options)[:16]}"
    return store.jobs.add(address, "pagekeep:reparse", {"task": TASK, **options}, clock.now())


async def reparse_job(job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]) -> SliceResult:
    """Reparse the items of a job, or the next part of them, and count the outcomes; a failure leaves its item as it is."""
    state, time = _State(job.options.get(SO_FAR, {})), asyncio.get_running_loop().time
    began = time()
    ids = await asyncio.to_thread(_remaining_ids, job.options, state, store, retrieval.rules)
    # Selecting takes longer in a large library: at least four fifths of the time are for reparsing.
    until = time() + SLICE_SECONDS + 4 * (time() - began)
    total, reported_at = state.done + len(ids), -_PROGRESS_SECONDS
    for number, item_id in enumerate(ids):
        if number and time() >= until:
            return SliceResult(so_far=state.to_json())
        if time() - reported_at >= _PROGRESS_SECONDS:
            reported_at = time()
            progress(f"Reparsed {state.done} of {total} pages")
        state.add(await _reparse(item_id, store, retrieval, force=bool(job.options.get("force"))))
    return SliceResult(report=state.report)


def _remaining_ids(options: Mapping[str, Any], state: _State, store: Store, rules: Rulebook) -> list[str]:
    """Return the ids of items that are not done yet. Named items may be purged by now, so they are looked up one by one."""
    limit = options.get("limit")
    left = None if limit is None else max(0, limit - state.done)
    if options.get("keys") is not None:
        return list(options["keys"])[:limit][state.done :]
    selection = Selection(
        domain=options.get("domain"), query=options.get("query"), limit=None if state.after else limit
    )
    ids = list(select_ids(store, rules, selection))
    return ids[_count_done(ids, state.after, store) :][:left]


def _count_done(ids: Sequence[str], after: tuple[str, str] | None, store: Store) -> int:
    """Return how many ids are of items saved before `after`. Ids are sorted by that, so few items are looked up."""

    def saved(item_id: str) -> tuple[str, str]:
        try:
            return store.items.get(item_id).saved_at, item_id
        except NotFound:  # just purged; at worst some items are reparsed twice
            return "~", item_id

    return bisect_right(ids, after, key=saved) if after else 0


async def _reparse(item_id: str, store: Store, retrieval: Retrieval, *, force: bool) -> ReparseResult | None:
    """Reparse one item; `None` when it was purged. A failure of the store ends the job, which is then retried."""
    try:
        return await reparse_one(item_id, store, retrieval, force=force)
    except PagekeepError as error:
        try:
            item = await asyncio.to_thread(store.items.get, item_id)
        except NotFound:
            return None
        return ReparseResult(item, "failed", error.message)


class _State:
    """The progress of a job, and its report so far."""

    def __init__(self, so_far: Mapping[str, Any]) -> None:
        self.done: int = so_far.get("done", 0)
        after = so_far.get("after")
        self.after: tuple[str, str] | None = (after[0], after[1]) if after else None
        """`saved_at` and id of the last item that was reparsed; `None` before the first."""
        self.report: dict[str, Any] = {**dict.fromkeys(OUTCOMES, 0), "notes": [], **so_far.get("report", {})}

    def add(self, result: ReparseResult | None) -> None:
        """Count one item; `None` for one that was purged."""
        self.done += 1
        if result is None:
            return
        item, notes = result.item, self.report["notes"]
        self.after = item.saved_at, item.id
        self.report[result.outcome] += 1
        if result.note and len(notes) < _MAX_NOTES:
            notes.append({"id": item.id, "url": item.url, "outcome": result.outcome, "note": result.note})

    def to_json(self) -> dict[str, Any]:
        """Return what the job needs to continue."""
        return {"done": self.done, "after": self.after, "report": self.report}
