"""The queue: jobs that wait, their slices and progress, and schedules that become jobs when they are due."""

from __future__ import annotations

import asyncio
import random
import re
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Request
from pagekeep.errors import InvalidQuery, NotFound, PagekeepError, StoreError
from pagekeep.fetch.urls import split_url
from pagekeep.library import normal_url
from pagekeep.model import Job, Schedule
from pagekeep.store import Store

LEASE_SECONDS: Final = 120.0
"""After this long without a heartbeat another process takes the job. A page takes at most 45 seconds."""
MAX_LEASE_SECONDS: Final = 600.0
"""A lease that ends later than this from now was made while the clock was ahead. It is five times as long as a lease, as the
clocks of several machines may differ by minutes."""
PICTURES_ADDRESS: Final = "pagekeep:pictures"
"""The address of jobs that keep the pictures of a page: they follow every save, and are not counted as pages that wait."""
_STOPPED: Final[Mapping[str, Any]] = {
    "type": "Interrupted",
    "message": "Pagekeep was stopped while it saved the page.",
    "suggestions": [],
}


def enqueue(request: Request, store: Store, *, tags: tuple[str, ...] = (), force: bool = False) -> Job:
    """Return a job for the page, or the one that already waits for it. `InvalidUrl` when it is not a URL."""
    split_url(request.url)  # the address of a message cannot be fetched
    return store.jobs.add(normal_url.normalise(request.url), request.url, _options(request, tags, force), clock.now())


def _options(request: Request, tags: tuple[str, ...], force: bool) -> dict[str, Any]:
    options: dict[str, Any] = {"render": request.render, "wait_for": request.wait_for, "tags": list(tags)}
    if request.timeout is not None:
        options["timeout"] = request.timeout
    if force:
        options["force"] = True
    options = {name: value for name, value in options.items() if value}
    if request.join_pages is not None:
        options["join_pages"] = request.join_pages
    return options


@dataclass(slots=True)
class HeldJob:
    """The job of a page that is being saved without the queue."""

    id: str
    dropped: bool = False
    """Whether it was removed in the transaction that stored the page."""


@asynccontextmanager
async def hold_job(
    request: Request, store: Store, *, tags: tuple[str, ...] = (), force: bool = False
) -> AsyncIterator[HeldJob | None]:
    """Have a job for the page while it is saved without the queue, so that its address is never lost.

    The job is leased to this save, so no worker takes it, and is removed when the save succeeds or is refused. When the save
    is interrupted or the library fails, the next worker gets it; when the process is killed, after the lease has ended.
    `None` if a job for the page waits already.
    """
    job, now = HeldJob(str(uuid.uuid4())), clock.now()
    until = clock.add_seconds(now, LEASE_SECONDS)
    url = normal_url.normalise(request.url)
    hold = asyncio.to_thread(store.jobs.hold, job.id, url, request.url, _options(request, tags, force), now, until)
    holding = asyncio.ensure_future(hold)
    try:
        is_ours = await asyncio.shield(holding)
    except asyncio.CancelledError:
        await asyncio.wait({holding})
        await _release(store, job, _STOPPED)
        raise
    if not is_ours:
        yield None
        return
    try:
        yield job
    except StoreError as error:
        await _release(store, job, error.to_json()["error"])
        raise
    except PagekeepError:
        await asyncio.to_thread(store.jobs.remove_held, job.id)
        raise
    except BaseException:
        await asyncio.shield(_release(store, job, _STOPPED))
        raise
    if not job.dropped:
        await asyncio.to_thread(store.jobs.remove_held, job.id)


async def _release(store: Store, job: HeldJob, error: Mapping[str, Any]) -> None:
    with suppress(StoreError):  # then it is due when its lease has ended
        await asyncio.to_thread(store.jobs.release_held, job.id, error, clock.now())


def list_pages(store: Store, state: str, limit: int) -> tuple[Job, ...]:
    """Return the user's jobs in a state, newest first, apart from those that keep pictures."""
    return store.jobs.list(state, limit, PICTURES_ADDRESS)


def count_jobs(store: Store) -> Mapping[str, int]:
    """Return how many jobs are queued, running and dead, apart from those that keep pictures."""
    return store.jobs.counts(PICTURES_ADDRESS)


def list_failed_tasks(store: Store, limit: int) -> tuple[Job, ...]:
    """Return the user's tasks that failed, newest first: imports, reparses and others, but no saves, which are items."""
    return store.jobs.failed_tasks(limit, PICTURES_ADDRESS)


def revive_job(store: Store, job_id: str) -> Job:
    """Return a dead job to the queue; any other stays as it is."""
    return store.jobs.revive(job_id, clock.now())


def revive_by_prefix(store: Store, prefix: str) -> Job:
    """Make the job whose id starts with the prefix due now; `NotFound` unless there is exactly one.

    A dead job goes back to the queue, one that waits for a later time waits no longer. A running job stays as it is, unless
    its lease was made while the clock was ahead.
    """
    jobs = store.jobs.find_unfinished(prefix)
    if len(jobs) != 1:
        raise NotFound(
            f"There is {'no' if not jobs else 'more than one'} unfinished or dead job {prefix!r}.",
            suggestions=("Look for its id in the list of jobs.",),
        )
    if jobs[0].state == "dead":
        return revive_job(store, jobs[0].id)
    freed = _free(store, jobs[0].id)
    return freed[0] if freed else jobs[0]


def revive_waiting(store: Store) -> tuple[Job, ...]:
    """Make all jobs due now that wait for a later time, or whose lease was made while the clock was ahead; return them."""
    return _free(store)


def _free(store: Store, job_id: str | None = None) -> tuple[Job, ...]:
    now = clock.now()
    return store.jobs.make_due(now, clock.add_seconds(now, MAX_LEASE_SECONDS), job_id)


def forget_job(store: Store, job_id: str) -> None:
    """Delete a dead job; one that waits or is done stays."""
    store.jobs.remove(job_id)


SLICE_SECONDS: Final = 5.0
"""Seconds that a job runs before it returns to the queue."""


@dataclass(frozen=True, slots=True)
class SliceResult:
    """The report of a job that is done, or the progress of one that is not."""

    report: Mapping[str, Any] | None = None
    so_far: Mapping[str, Any] | None = None


class ProgressBoard:
    """The stage of every running job, for one event loop."""

    def __init__(self) -> None:
        self._stages: dict[str, str] = {}
        self._watchers: dict[str, set[asyncio.Event]] = {}

    def put(self, job_id: str, stage: str) -> None:
        """Set the stage of a job."""
        self._stages[job_id] = stage
        self._wake(job_id)

    def drop(self, job_id: str) -> None:
        """Remove a job that has ended."""
        self._stages.pop(job_id, None)
        self._wake(job_id)

    def stage(self, job_id: str) -> str | None:
        """Return the stage of a job, if this process runs it."""
        return self._stages.get(job_id)

    async def change(self, job_id: str, seconds: float) -> None:
        """Wait until the stage of the job changes, at most this many seconds."""
        event = asyncio.Event()
        self._watchers.setdefault(job_id, set()).add(event)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), seconds)
        finally:
            watchers = self._watchers[job_id]
            watchers.discard(event)
            if not watchers:
                del self._watchers[job_id]

    def _wake(self, job_id: str) -> None:
        for event in self._watchers.get(job_id, ()):
            event.set()


MIN_INTERVAL: Final = 300
"""Shorter intervals would only trouble a site."""
MAX_INTERVAL: Final = 90 * 86_400
JITTER: Final = 0.1
"""Share of the interval by which each run is earlier or later, so that requests do not come all at the same time."""
MAX_BACKOFF: Final = 6
"""Failed runs after which the pauses get no longer: 64 times the interval, but at most `MAX_SECONDS`."""
_FAR_SECONDS: Final = 1.5 * MAX_INTERVAL
"""A schedule that waits longer was set while the clock was ahead, and is due."""
_INTERVAL: Final = re.compile(r"(\d{1,6})\s*(m|min|h|d|w)")
_UNITS: Final = {"m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def parse_interval(text: str) -> int:
    """Return the seconds of an interval such as `30m`, `6h`, `1d` or `2w`; `InvalidQuery` for anything else."""
    found = _INTERVAL.fullmatch(text.strip().lower())
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if not MIN_INTERVAL <= seconds <= MAX_INTERVAL:
        raise InvalidQuery(
            f"The interval cannot be `{text:.40}`.",
            suggestions=("Use 5m to 90d: a number and m (minutes), h (hours), d (days) or w (weeks).",),
        )
    return seconds


def format_interval(seconds: int) -> str:
    """Return an interval as `parse_interval` reads it."""
    for unit in ("w", "d", "h"):
        if seconds % _UNITS[unit] == 0:
            return f"{seconds // _UNITS[unit]}{unit}"
    return f"{max(1, seconds // 60)}m"


def next_time(schedule: Schedule, now: str) -> str:
    """Return when a schedule runs next: after its interval, twice as long for each failed run, and not quite on time."""
    seconds = min(schedule.every * 2 ** min(schedule.attempts, MAX_BACKOFF), MAX_INTERVAL)
    return clock.add_seconds(now, seconds * random.uniform(1 - JITTER, 1 + JITTER))


def start_due(queue: Store) -> int:
    """Turn the schedules that are due into jobs; return how many. Any number of processes can do this."""
    now = clock.now()
    far = clock.add_seconds(now, _FAR_SECONDS)
    return queue.schedules.start_due(now, far, next_time) if queue.schedules.has_due(now, far) else 0
