"""The queue: pages to save, jobs that wait, their slices and progress, and schedules that become jobs when they are due."""

from __future__ import annotations

import asyncio
import os
import random
import re
import socket
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Request
from pagekeep.errors import InvalidQuery, NotFound, PagekeepError, StoreError
from pagekeep.fetch.urls import split_url
from pagekeep.library import normal_url
from pagekeep.model import Fetched, Item, Job, Schedule
from pagekeep.store import Store

LEASE_SECONDS: Final = 120.0
"""After this long without a heartbeat another process takes the job. A page takes at most 45 seconds."""
MAX_LEASE_SECONDS: Final = 600.0
"""A lease that ends later than this from now was made while the clock was ahead. It is five times as long as a lease, as the
clocks of several machines may differ by minutes."""
RETRY_SECONDS: Final = 5.0
"""Seconds before the library is tried again after it failed."""
PICTURES_ADDRESS: Final = "pagekeep:pictures"
"""The address of jobs that keep the pictures of a page: they follow every save, and are not counted as pages that wait."""
_STOPPED: Final[Mapping[str, Any]] = {
    "type": "Interrupted",
    "message": "Pagekeep was stopped while it saved the page.",
    "suggestions": [],
}


@dataclass(frozen=True, slots=True)
class SaveRequest:
    """A page to save, now or by a job of the queue."""

    page: Request
    """Its address, and how to fetch it."""
    tags: tuple[str, ...] = ()
    force: bool = False
    """Whether the result replaces a better one."""
    known: Item | None = None
    """The item that is fetched again, whatever address its page has now."""
    uploaded: Fetched | None = None
    """The page itself, as sent by a browser or a feed: nothing is fetched."""
    join_uploaded: bool = False
    """Whether to fetch the other pages of an uploaded article."""
    keep_failed: bool = True
    """Whether the address is kept if the page cannot be saved; not if a job of the queue will try again."""
    source: str | None = None
    """Where an uploaded page is from, if not from a browser."""
    action: str | None = None
    """What the save is a part of: undoing that moves what was not in the library before to the trash."""

    @classmethod
    def of_job(cls, job: Job) -> SaveRequest:
        """Return what a job of the queue saves."""
        options = job.options
        page = Request(
            job.url_full,
            render=options.get("render"),
            timeout=options.get("timeout"),
            render_timeout=options.get("timeout"),
            wait_for=options.get("wait_for"),
            join_pages=options.get("join_pages"),
        )
        return cls(page, tuple(options.get("tags", ())), bool(options.get("force")), keep_failed=False)

    def job_options(self) -> dict[str, Any]:
        """Return the options of a job that saves it."""
        page, names = self.page, ("render", "wait_for", "tags", "timeout", "force")
        values = (page.render, page.wait_for, list(self.tags), page.timeout, self.force)
        options: dict[str, Any] = {name: value for name, value in zip(names, values, strict=True) if value}
        return options if page.join_pages is None else {**options, "join_pages": page.join_pages}


def enqueue(request: SaveRequest, store: Store) -> Job:
    """Return a job for the page, or the one that already waits for it. `InvalidUrl` when it is not a URL."""
    url = request.page.url
    split_url(url)  # the address of a message cannot be fetched
    return store.jobs.add(normal_url.normalise(url), url, request.job_options(), clock.now())


@dataclass(slots=True)
class HeldJob:
    """The job of a page that is being saved without the queue."""

    id: str
    dropped: bool = False
    """Whether it was removed in the transaction that stored the page."""


@asynccontextmanager
async def hold_job(request: SaveRequest, store: Store) -> AsyncIterator[HeldJob | None]:
    """Have a job for the page while it is saved without the queue, so that its address is never lost.

    The job is leased to this save, so no worker takes it, and is removed when the save succeeds or is refused. When the save
    is interrupted or the library fails, the next worker gets it; when the process is killed, after the lease has ended.
    `None` if a job for the page waits already.
    """
    job, now = HeldJob(str(uuid.uuid4())), clock.now()
    until = clock.add_seconds(now, LEASE_SECONDS)
    url = normal_url.normalise(request.page.url)
    hold = asyncio.to_thread(store.jobs.hold, job.id, url, request.page.url, request.job_options(), now, until)
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


def worker_name() -> str:
    """Return a name for this process that is unique among all workers, and shows when it has died."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


MAX_PAUSE: Final = 6 * 3600.0
"""Seconds; the longest pause between two attempts."""


def pause_after(attempts: int, first: float) -> float:
    """Return the seconds to wait after this many attempts: four times as long each time, up to a limit."""
    return float(min(first * 4 ** max(0, min(attempts, 20) - 1), MAX_PAUSE))


async def run_until(stopping: asyncio.Event, run: Callable[[], Awaitable[None]]) -> None:
    """Run until stopped. While the library fails, as on a full disk, try again."""
    while not stopping.is_set():
        with suppress(StoreError):
            await run()
        await asyncio.sleep(RETRY_SECONDS)


class RunningTasks(dict[Any, asyncio.Task[None]]):
    """Tasks of a runner, by what they work on."""

    async def wait(self, stopping: asyncio.Event, seconds: float) -> None:
        """Wait until one is done, it is time to stop, or the seconds are over; raise the error of one that failed."""
        stop = asyncio.ensure_future(stopping.wait())
        try:
            await asyncio.wait({stop, *self.values()}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.cancel()
        for key, task in list(self.items()):
            if task.done():
                del self[key]
                task.result()

    async def cancel(self) -> None:
        """Cancel all of them, and wait until they have ended."""
        for task in self.values():
            task.cancel()
        await asyncio.gather(*self.values(), return_exceptions=True)
        self.clear()


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
