"""The queue of jobs: saves, and other tasks, that wait to be run."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Request
from pagekeep.errors import NotFound, PagekeepError, StoreError
from pagekeep.fetch.urls import split_url
from pagekeep.library import normal_url
from pagekeep.model import Job
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
    return store.enqueue(normal_url.normalise(request.url), request.url, _options(request, tags, force), clock.now())


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
    hold = asyncio.to_thread(store.hold_job, job.id, url, request.url, _options(request, tags, force), now, until)
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
        await asyncio.to_thread(store.drop_held, job.id)
        raise
    except BaseException:
        await asyncio.shield(_release(store, job, _STOPPED))
        raise
    if not job.dropped:
        await asyncio.to_thread(store.drop_held, job.id)


async def _release(store: Store, job: HeldJob, error: Mapping[str, Any]) -> None:
    with suppress(StoreError):  # then it is due when its lease has ended
        await asyncio.to_thread(store.release_held, job.id, error, clock.now())


def list_jobs(store: Store, state: str | None = None, limit: int = 100) -> tuple[Job, ...]:
    """Return the user's jobs, newest first."""
    return store.jobs(state, limit)


def list_pages(store: Store, state: str, limit: int) -> tuple[Job, ...]:
    """Return the user's jobs in a state, newest first, apart from those that keep pictures."""
    return store.jobs(state, limit, PICTURES_ADDRESS)


def count_jobs(store: Store) -> Mapping[str, int]:
    """Return how many jobs are queued, running and dead, apart from those that keep pictures."""
    return store.job_counts(PICTURES_ADDRESS)


def list_failed_tasks(store: Store, limit: int) -> tuple[Job, ...]:
    """Return the user's tasks that failed, newest first: imports, reparses and others, but no saves, which are items."""
    return store.failed_tasks(limit, PICTURES_ADDRESS)


def get_job(store: Store, job_id: str) -> Job:
    """Return the user's job with this id; `NotFound` when there is none."""
    return store.job(job_id)


def revive_job(store: Store, job_id: str) -> Job:
    """Return a dead job to the queue; any other stays as it is."""
    return store.revive(job_id, clock.now())


def revive_by_prefix(store: Store, prefix: str) -> Job:
    """Make the job whose id starts with the prefix due now; `NotFound` unless there is exactly one.

    A dead job goes back to the queue, one that waits for a later time waits no longer. A running job stays as it is, unless
    its lease was made while the clock was ahead.
    """
    jobs = store.unfinished_jobs(prefix)
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
    return store.free(now, clock.add_seconds(now, MAX_LEASE_SECONDS), job_id)


def forget_job(store: Store, job_id: str) -> None:
    """Delete a dead job; one that waits or is done stays."""
    store.forget(job_id)
