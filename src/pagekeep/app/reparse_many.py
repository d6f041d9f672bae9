"""Many items read again: which ones, and as a job of the queue, with others watching."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, Final

from pagekeep.app import moments
from pagekeep.app.capture import Retrieval
from pagekeep.app.exporting.choosing import chosen
from pagekeep.app.library import find
from pagekeep.app.once import fingerprint
from pagekeep.app.refetch import living_ids
from pagekeep.app.reparse import Reparsed, reparse_one, stale_ids
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.model import Job
from pagekeep.rules import Rulebook
from pagekeep.store import Store

TASK: Final = "reparse"
"""In a job's options: what it is, where it is no save."""
OUTCOMES: Final = ("updated", "unchanged", "kept", "failed")
_MOST_NOTES: Final = 100
_TOLD_EVERY: Final = 0.5
"""Seconds between two words about progress."""


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
        return iter([find(store, key).id for key in choice.keys][: choice.limit])
    if choice.query is not None:
        return islice((item.id for item in chosen(store, choice.query)), choice.limit)
    if choice.domain is not None:
        return living_ids(store, choice.limit, choice.domain)
    return stale_ids(store, rules, choice.limit)


def enqueue_reparse(store: Store, choice: Choice, *, force: bool = False) -> Job:
    """A job for these items; the one there is when the same already waits.

    `NotFound` at once for a key that is none, `InvalidQuery` for a query that makes no sense.
    """
    if choice.keys is not None:
        choice = replace(choice, keys=tuple(find(store, key).id for key in choice.keys))
    if choice.query is not None:
        store.search(choice.query, limit=1)
    asked = {name: value for name, value in asdict(choice).items() if value is not None} | (
        {"force": True} if force else {}
    )
    address = f"pagekeep:reparse/{fingerprint(asked)[:16]}"
    return store.enqueue(address, "pagekeep:reparse", {"task": TASK, **asked}, moments.now())


async def reparse_job(
    job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]
) -> Mapping[str, Any]:
    """Do it: how many came out how, and what is to be said of them. A failure leaves its item as it is."""
    asked = job.options
    ids = await asyncio.to_thread(_asked_ids, asked, store, retrieval.rules)
    report, clock = _Report(), asyncio.get_running_loop().time
    told = -_TOLD_EVERY
    for number, item_id in enumerate(ids):
        if clock() - told >= _TOLD_EVERY:
            told = clock()
            progress(f"Read {number} of {len(ids)} pages")
        report.take(await _one(item_id, store, retrieval, force=bool(asked.get("force"))))
    return report.shape()


def _asked_ids(asked: Mapping[str, Any], store: Store, rules: Rulebook) -> list[str]:
    """Items that were named are looked for one by one: some may be gone by now."""
    if asked.get("keys") is not None:
        return list(asked["keys"])[: asked.get("limit")]
    choice = Choice(domain=asked.get("domain"), query=asked.get("query"), limit=asked.get("limit"))
    return list(chosen_ids(store, rules, choice))


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


class _Report:
    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._notes: list[dict[str, Any]] = []

    def take(self, done: Reparsed | None) -> None:
        if done is None:
            return
        self._counts[done.outcome] += 1
        if done.note and len(self._notes) < _MOST_NOTES:
            told = {"id": done.item.id, "url": done.item.url, "outcome": done.outcome, "note": done.note}
            self._notes.append(told)

    def shape(self) -> dict[str, Any]:
        return {**{outcome: self._counts[outcome] for outcome in OUTCOMES}, "notes": self._notes}
