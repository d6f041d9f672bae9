"""Reparse many items: select them, and reparse them as a job of the queue."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.library.idempotency import fingerprint
from pagekeep.library.items import get_item, walk_items
from pagekeep.library.queue.slices import SLICE_SECONDS, SliceResult
from pagekeep.library.reparse.reparse import ReparseResult, reparse_one, stale_ids
from pagekeep.model import Job
from pagekeep.rules import Rulebook
from pagekeep.store import Store, parse_query
from pagekeep.store.tables.jobs import SO_FAR

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
    address = f"pagekeep:reparse/{fingerprint(options)[:16]}"
    return store.enqueue(address, "pagekeep:reparse", {"task": TASK, **options}, clock.now())


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
            return store.get(item_id).saved_at, item_id
        except NotFound:  # just purged; at worst some items are reparsed twice
            return "~", item_id

    return bisect_right(ids, after, key=saved) if after else 0


async def _reparse(item_id: str, store: Store, retrieval: Retrieval, *, force: bool) -> ReparseResult | None:
    """Reparse one item; `None` when it was purged. A failure of the store ends the job, which is then retried."""
    try:
        return await reparse_one(item_id, store, retrieval, force=force)
    except PagekeepError as error:
        try:
            item = await asyncio.to_thread(store.get, item_id)
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
