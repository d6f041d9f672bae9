"""The queue of jobs: saves, and other tasks, that wait to be run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Request
from pagekeep.errors import NotFound
from pagekeep.library import normal_url
from pagekeep.model import Job
from pagekeep.store import Store

_MAX_DEAD_JOBS: Final = 10_000
"""Dead jobs in which the beginning of an id is looked up."""


def enqueue(request: Request, store: Store, *, tags: tuple[str, ...] = (), force: bool = False) -> Job:
    """Return a job for the page, or the one that already waits for it. `InvalidUrl` when it is not a URL."""
    options: dict[str, Any] = {"render": request.render, "wait_for": request.wait_for, "tags": list(tags)}
    if force:
        options["force"] = True
    options = {name: value for name, value in options.items() if value}
    return store.enqueue(normal_url.normalise(request.url), request.url, options, clock.now())


def list_jobs(store: Store, state: str | None = None, limit: int = 100) -> tuple[Job, ...]:
    """Return the user's jobs, newest first."""
    return store.jobs(state, limit)


def count_jobs(store: Store) -> Mapping[str, int]:
    """Return how many jobs are queued, running and dead."""
    return store.job_counts()


def get_job(store: Store, job_id: str) -> Job:
    """Return the user's job with this id; `NotFound` when there is none."""
    return store.job(job_id)


def revive_job(store: Store, job_id: str) -> Job:
    """Return a dead job to the queue; any other stays as it is."""
    return store.revive(job_id, clock.now())


def revive_by_prefix(store: Store, prefix: str) -> Job:
    """Return the dead job whose id starts with the prefix to the queue; `NotFound` unless there is exactly one."""
    jobs = [job for job in store.jobs("dead", limit=_MAX_DEAD_JOBS) if job.id.startswith(prefix)]
    if len(jobs) != 1:
        raise NotFound(
            f"There is {'no' if not jobs else 'more than one'} dead job {prefix!r}.",
            suggestions=("Look for its id in the list of dead jobs.",),
        )
    return revive_job(store, jobs[0].id)


def forget_job(store: Store, job_id: str) -> None:
    """Delete a dead job; one that waits or is done stays."""
    store.forget(job_id)
