"""Many items read again: which ones, and as a job of the queue, with others watching."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from pagekeep import clock as moments
from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.library.idempotency import fingerprint
from pagekeep.library.items import get_item, walk_items
from pagekeep.library.reparse.reparse import Reparsed, reparse_one, stale_ids
from pagekeep.model import Job
from pagekeep.rules import Rulebook
from pagekeep.store import Store, parse_query
from pagekeep.store.tables.jobs import SO_FAR

TASK: Final = "reparse"
"""In a job's options: what it is, where it is no save."""
OUTCOMES: Final = ("updated", "unchanged", "kept", "failed")
_MOST_NOTES: Final = 100
_TOLD_EVERY: Final = 0.5
"""Seconds between two words about progress."""
SLICE: Final = 5.0
"""Seconds of a turn: then others who wait have theirs."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which items; those that an older parser or other rules have read where nothing else is said."""

    keys: tuple[str, ...] | None = None
    """Ids, beginnings of ids, or addresses. An empty list is a choice of nothing."""
    domain: str | None = None
    query: str | None = None
    """In the language of `pagekeep search`."""
    limit: int | None = None


def chosen_ids(store: Store, rules: Rulebook, choice: Choice) -> Iterator[str]:
    """The items' ids, oldest first; `NotFound` for a key that is none."""
    if choice.keys is not None:
        return iter([get_item(store, key).id for key in choice.keys][: choice.limit])
    if choice.query is not None:
        return (item.id for item in walk_items(store, choice.query, limit=choice.limit))
    if choice.domain is not None:
        return (item.id for item in walk_items(store, domain=choice.domain, limit=choice.limit))
    return stale_ids(store, rules, choice.limit)


def enqueue_reparse(store: Store, choice: Choice, *, force: bool = False) -> Job:
    """A job for these items; the one there is when the same already waits.

    `NotFound` at once for a key that is none, `InvalidQuery` for a query that makes no sense.
    """
    if choice.keys is not None:
        choice = replace(choice, keys=tuple(get_item(store, key).id for key in choice.keys))
    if choice.query is not None:
        parse_query(choice.query)
    asked = {name: value for name, value in asdict(choice).items() if value is not None} | (
        {"force": True} if force else {}
    )
    address = f"pagekeep:reparse/{fingerprint(asked)[:16]}"
    return store.enqueue(address, "pagekeep:reparse", {"task": TASK, **asked}, moments.now())


@dataclass(frozen=True, slots=True)
class Turn:
    """What came of one turn at a job: its report, or how far it is."""

    report: Mapping[str, Any] | None = None
    so_far: Mapping[str, Any] | None = None


async def reparse_job(job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]) -> Turn:
    """Do it, or the next part: how many came out how, and what is to be said of them. A failure leaves its item as it is."""
    place, clock = _Place(job.options.get(SO_FAR, {})), asyncio.get_running_loop().time
    began = clock()
    ids = await asyncio.to_thread(_left, job.options, place, store, retrieval.rules)
    until = clock() + SLICE + 4 * (clock() - began)  # most of a turn is reading, however long choosing takes
    total, told = place.done + len(ids), -_TOLD_EVERY
    for number, item_id in enumerate(ids):
        if number and clock() >= until:
            return Turn(so_far=place.shape())
        if clock() - told >= _TOLD_EVERY:
            told = clock()
            progress(f"Read {place.done} of {total} pages")
        place.take(await _one(item_id, store, retrieval, force=bool(job.options.get("force"))))
    return Turn(report=place.report)


def _left(asked: Mapping[str, Any], place: _Place, store: Store, rules: Rulebook) -> list[str]:
    """The items that are still to be read. Those that were named are looked for one by one: some may be gone by now."""
    limit, left = asked.get("limit"), None if asked.get("limit") is None else max(0, asked["limit"] - place.done)
    if asked.get("keys") is not None:
        return list(asked["keys"])[:limit][place.done :]
    choice = Choice(domain=asked.get("domain"), query=asked.get("query"), limit=None if place.after else limit)
    ids = list(chosen_ids(store, rules, choice))
    return ids[_begin(ids, place.after, store) :][:left]


def _begin(ids: Sequence[str], after: tuple[str, str] | None, store: Store) -> int:
    """Where those begin that were saved later. All ways of choosing give the oldest first, so few need be looked at."""

    def saved(item_id: str) -> tuple[str, str]:
        try:
            return store.get(item_id).saved_at, item_id
        except NotFound:  # purged this moment; at worst some are read twice
            return "~", item_id

    return bisect_right(ids, after, key=saved) if after else 0


async def _one(item_id: str, store: Store, retrieval: Retrieval, *, force: bool) -> Reparsed | None:
    """Nothing for an item that is gone by now. A store that fails altogether ends the job: it is tried again."""
    try:
        return await reparse_one(item_id, store, retrieval, force=force)
    except PagekeepError as error:
        try:
            item = await asyncio.to_thread(store.get, item_id)
        except NotFound:
            return None
        return Reparsed(item, "failed", error.message)


class _Place:
    """How far a job is, and what came of it until there."""

    def __init__(self, so_far: Mapping[str, Any]) -> None:
        self.done: int = so_far.get("done", 0)
        after = so_far.get("after")
        self.after: tuple[str, str] | None = (after[0], after[1]) if after else None
        """Moment and id of the last item that was read: `None` before the first."""
        self.report: dict[str, Any] = {**dict.fromkeys(OUTCOMES, 0), "notes": [], **so_far.get("report", {})}

    def take(self, done: Reparsed | None) -> None:
        """One more; nothing is to be said of one that is gone."""
        self.done += 1
        if done is None:
            return
        item, notes = done.item, self.report["notes"]
        self.after = item.saved_at, item.id
        self.report[done.outcome] += 1
        if done.note and len(notes) < _MOST_NOTES:
            notes.append({"id": item.id, "url": item.url, "outcome": done.outcome, "note": done.note})

    def shape(self) -> dict[str, Any]:
        """What the next turn needs."""
        return {"done": self.done, "after": self.after, "report": self.report}
