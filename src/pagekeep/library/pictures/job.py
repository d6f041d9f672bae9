"""Keep the pictures of a saved page in the background: as a job of the queue, so that no crash loses it."""

from __future__ import annotations

import asyncio
import os
import uuid
from asyncio import to_thread
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Progress, Retrieval, ignore_progress
from pagekeep.config import Settings
from pagekeep.errors import NotFound
from pagekeep.library.pictures.keep import ROLES, PictureReport, keep_pictures
from pagekeep.library.pictures.wanted import missing_sources, wanted_sources
from pagekeep.library.queue.jobs import LEASE_SECONDS, PICTURES_ADDRESS
from pagekeep.library.queue.slices import SliceResult
from pagekeep.model import Item, Job
from pagekeep.store import Store

TASK: Final = "pictures"
"""The value of `task` in the options of these jobs."""
_POLL_SECONDS: Final = 0.25
"""How often a job is looked at that another process runs."""
_INTERRUPTED: Final = {
    "type": "Interrupted",
    "message": "Pagekeep was stopped while it ran the job.",
    "suggestions": [],
}


def request_pictures(store: Store, item: Item, settings: Settings, *, again: bool = True) -> Job | None:
    """Return a job that keeps the item's pictures; `None` when all are kept or none is wanted.

    Without `again`, also when some were left out before and no picture is new.
    """
    sources = wanted_sources(item, settings)
    if not sources or item.deleted_at is not None:
        return None
    links = store.item_blobs(item.id, ROLES)
    known = {link.source for link in links}
    if not missing_sources(sources, links) or (not again and known.issuperset(sources)):
        return None
    options = {"task": TASK, "item": item.id}
    return store.enqueue(f"{PICTURES_ADDRESS}/{item.id}", PICTURES_ADDRESS, options, clock.now())


def request_many(store: Store, items: Iterable[Item], settings: Settings) -> None:
    """Add jobs that keep the pictures of new items, in one step."""
    wanted = [item for item in items if item.deleted_at is None and wanted_sources(item, settings)]
    if wanted:
        store.enqueue_many(
            [(f"{PICTURES_ADDRESS}/{item.id}", PICTURES_ADDRESS) for item in wanted], {"task": TASK}, clock.now()
        )


async def pictures_job(job: Job, store: Store, retrieval: Retrieval, progress: Progress) -> SliceResult:
    """Keep the pictures of the job's item; there is nothing to do when it was deleted in the meantime."""
    try:
        item = await to_thread(store.get, job.url.rpartition("/")[2])
    except NotFound:
        return SliceResult(report={"kept": 0, "left_out": 0})
    report = await keep_pictures(item, store, retrieval, progress)
    return SliceResult(report=_shape(report))


async def run_now(
    job_id: str, store: Store, retrieval: Retrieval, progress: Progress = ignore_progress
) -> Mapping[str, Any]:
    """Run a pictures job in this process, or wait for the process that runs it already; return its report."""
    worker = f"pictures:{os.getpid()}:{uuid.uuid4().hex[:8]}"
    while True:
        now = clock.now()
        until = clock.add_seconds(now, LEASE_SECONDS)
        job = await to_thread(store.lease, worker, now, until, job_id=job_id)
        if job is not None:
            break
        known = await to_thread(store.job, job_id)
        if known.state not in ("queued", "running"):
            return dict(known.options.get("report", {}))
        await asyncio.sleep(_POLL_SECONDS)
    try:
        done = await pictures_job(job, store, retrieval, progress)
    except BaseException:
        store.fail(job_id, worker, _INTERRUPTED, retry_at=clock.now(), counts=False)  # another process can go on
        raise
    await to_thread(store.finish, job_id, worker, None, done.report)
    return done.report or {}


def _shape(report: PictureReport) -> dict[str, int]:
    return {"kept": report.kept, "left_out": report.left_out, "bytes": report.bytes}
