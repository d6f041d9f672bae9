"""Keep the pictures of items: download and check them, at once or as a job of the queue."""

from __future__ import annotations

import asyncio
import os
import uuid
from asyncio import to_thread
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Progress, Retrieval, ignore_progress
from pagekeep.capture.pictures import PICTURE, Checked, CheckPicture
from pagekeep.config import Settings
from pagekeep.errors import (
    BlockedAddress,
    FetchHttpError,
    FetchTimeout,
    InvalidProtocol,
    InvalidUrl,
    NotFound,
    PagekeepError,
    ParseError,
    StoreError,
    TooLarge,
    TooSlow,
    UnsupportedContent,
)
from pagekeep.library.archive.pictures import hero_source, missing_sources, normal_source, wanted_sources
from pagekeep.library.queue import LEASE_SECONDS, PICTURES_ADDRESS, SliceResult
from pagekeep.model import BlobRole, Item, ItemBlob, Job, LeftOut
from pagekeep.store import Store

ROLES: Final[tuple[BlobRole, ...]] = ("picture", "hero", "thumbnail")
MAX_PICTURE_BYTES: Final = 20_000_000
"""Larger files are not downloaded."""
MAX_SECONDS: Final = 90.0
"""For all pictures of a page: less than the lease of a job, so that no other process begins with the same."""
_PARALLEL: Final = 8
"""Downloads of a page at a time; each may take 20 MB of memory."""
_ACCEPT: Final = "image/avif,image/webp,image/png,image/jpeg,image/gif,image/svg+xml,image/*;q=0.5"
_GONE: Final = (404, 410)


@dataclass(slots=True)
class PictureReport:
    """What became of the pictures of an item."""

    kept: int = 0
    left_out: int = 0
    bytes: int = 0
    """Of those that are kept now and were not before."""


@dataclass(slots=True)
class _Page:
    """The pictures of one item while they are downloaded."""

    item: Item
    store: Store
    retrieval: Retrieval
    hero: str | None
    positions: dict[str, int]
    """Address to its place among the item's pictures."""
    in_text: frozenset[str]
    page_bytes: int
    library_bytes: int
    report: PictureReport = field(default_factory=PictureReport)


async def keep_pictures(
    item: Item, store: Store, retrieval: Retrieval, progress: Progress = ignore_progress
) -> PictureReport:
    """Keep the pictures of an item that are not kept yet; those that were left out are tried again."""
    sources = wanted_sources(item, retrieval.settings)
    page = await to_thread(_begin, item, store, retrieval, sources)
    links = await to_thread(store.blobs.of_item, item.id, ROLES)
    waiting = missing_sources(sources, links)
    chosen = [source for source in waiting if page.positions[source] < retrieval.settings.page_pictures]
    for source in waiting[len(chosen) :]:
        await _leave_out(page, source, "too_many")
    slots, done = asyncio.Semaphore(_PARALLEL), 0

    async def keep_one(source: str) -> None:
        nonlocal done
        async with slots:
            await _download(page, source)
        done += 1
        progress(f"Keeping pictures: {done} of {len(chosen)}")

    finished = await _run_all([keep_one(source) for source in chosen])
    for source, was_finished in zip(chosen, finished, strict=True):
        if not was_finished:
            await _leave_out(page, source, "timeout")
    return page.report


async def keep_uploaded(item: Item, store: Store, retrieval: Retrieval, url: str, data: bytes) -> ItemBlob:
    """Keep a picture of the item that a browser sent; `NotFound` when the item has no picture at this address.

    A picture that is kept already stays.
    """
    sources, source = wanted_sources(item, retrieval.settings), normal_source(url)
    if source not in sources:
        raise NotFound("The item has no picture at this address.", suggestions=("Check the address of the picture.",))
    links = await to_thread(store.blobs.of_item, item.id, ("picture", "hero"))
    kept = next((link for link in links if link.source == source and link.state == "kept"), None)
    if kept is not None:
        return kept
    page = await to_thread(_begin, item, store, retrieval, sources)
    if page.positions[source] >= retrieval.settings.page_pictures:
        return await _leave_out(page, source, "too_many")
    return await _check(page, source, data)


def _begin(item: Item, store: Store, retrieval: Retrieval, sources: Iterable[str]) -> _Page:
    positions = {source: number for number, source in enumerate(sources)}
    own = store.blobs.of_item(item.id, ("picture", "hero"))
    hero = hero_source(item)
    text_only = replace(item, metadata=replace(item.metadata, hero_image=None))
    return _Page(
        item,
        store,
        retrieval,
        hero,
        positions,
        frozenset(wanted_sources(text_only, retrieval.settings)),
        page_bytes=sum({link.hash: link.size or 0 for link in own if link.hash}.values()),
        library_bytes=store.blobs.total_bytes(),
    )


async def _run_all(tasks: list[Awaitable[None]]) -> list[bool]:
    """Run all for a limited time; return which have finished. A fault of the library is raised, after the others."""
    running = [asyncio.ensure_future(task) for task in tasks]
    if not running:
        return []
    try:
        await asyncio.wait(running, timeout=MAX_SECONDS)
    finally:
        for task in running:
            task.cancel()
        results = await asyncio.gather(*running, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
            raise result
    return [result is None for result in results]


async def _download(page: _Page, source: str) -> None:
    try:
        fetched = await page.retrieval.client.download(source, accept=_ACCEPT, max_bytes=MAX_PICTURE_BYTES)
    except PagekeepError as error:
        await _leave_out(page, source, _reason(error))
        return
    await _check(page, source, fetched.body)


async def _check(page: _Page, source: str, data: bytes) -> ItemBlob:
    """Check a picture and keep it, or note why not; return the note."""
    settings = page.retrieval.settings
    is_hero = source == page.hero
    try:
        checked = await page.retrieval.run(CheckPicture(data, settings.picture_bytes, thumbnail=is_hero), PICTURE)
    except PagekeepError as error:
        return await _leave_out(page, source, _reason(error), len(data))
    if not isinstance(checked, Checked):
        return await _leave_out(page, source, checked.reason, len(data))
    body = data if checked.replacement is None else checked.replacement
    if page.page_bytes + len(body) > settings.page_picture_bytes:
        return await _leave_out(page, source, "page_full", len(data))
    if settings.archive_bytes and page.library_bytes + len(body) > settings.archive_bytes:
        return await _leave_out(page, source, "library_full", len(data))
    page.page_bytes += len(body)
    page.library_bytes += len(body)
    return await to_thread(_keep, page, source, body, checked)


def _keep(page: _Page, source: str, body: bytes, checked: Checked) -> ItemBlob:
    now = clock.now()
    link = ItemBlob(
        _role(page, source),
        source,
        "kept",
        now,
        checked.media_type,
        page.store.blobs.put(body, now),
        len(body),
        checked.width,
        checked.height,
        reason="downscaled" if checked.downscaled else None,
        position=page.positions[source],
    )
    links = [link]
    small = checked.thumbnail
    if small is not None:
        name = page.store.blobs.put(small.body, now)
        size = len(small.body)
        links.append(
            ItemBlob("thumbnail", source, "kept", now, small.media_type, name, size, small.width, small.height)
        )
    page.store.blobs.link(page.item.id, links)
    page.report.kept += 1
    page.report.bytes += len(body)
    return link


async def _leave_out(page: _Page, source: str, reason: LeftOut, size: int | None = None) -> ItemBlob:
    position = page.positions[source]
    link = ItemBlob(_role(page, source), source, "left_out", clock.now(), reason=reason, size=size, position=position)
    await to_thread(page.store.blobs.link, page.item.id, [link])
    page.report.left_out += 1
    return link


def _role(page: _Page, source: str) -> BlobRole:
    """Return `hero` for a main picture that the text does not show."""
    return "picture" if source in page.in_text else "hero"


def _reason(error: PagekeepError) -> LeftOut:
    """Return why a picture is left out; a fault of the library is raised, as it has nothing to do with the picture."""
    match error:
        case StoreError():
            raise error
        case BlockedAddress() | InvalidUrl() | InvalidProtocol():
            return "refused"
        case FetchHttpError():
            return "not_found" if error.status in _GONE else "refused" if 400 <= error.status < 500 else "unreachable"
        case FetchTimeout() | TooSlow():
            return "timeout"
        case TooLarge():
            return "too_large"
        case UnsupportedContent():
            return "not_a_picture"
        case ParseError():  # the worker gave up
            return "damaged"
    return "unreachable"


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
    links = store.blobs.of_item(item.id, ROLES)
    known = {link.source for link in links}
    if not missing_sources(sources, links) or (not again and known.issuperset(sources)):
        return None
    options = {"task": TASK, "item": item.id}
    return store.jobs.add(f"{PICTURES_ADDRESS}/{item.id}", PICTURES_ADDRESS, options, clock.now())


def request_many(store: Store, items: Iterable[Item], settings: Settings) -> None:
    """Add jobs that keep the pictures of new items, in one step."""
    wanted = [item for item in items if item.deleted_at is None and wanted_sources(item, settings)]
    if wanted:
        store.jobs.add_many(
            [(f"{PICTURES_ADDRESS}/{item.id}", PICTURES_ADDRESS) for item in wanted], {"task": TASK}, clock.now()
        )


async def pictures_job(job: Job, store: Store, retrieval: Retrieval, progress: Progress) -> SliceResult:
    """Keep the pictures of the job's item; there is nothing to do when it was deleted in the meantime."""
    try:
        item = await to_thread(store.items.get, job.url.rpartition("/")[2])
    except NotFound:
        return SliceResult(report={"kept": 0, "left_out": 0})
    report = await keep_pictures(item, store, retrieval, progress)
    return SliceResult(report={"kept": report.kept, "left_out": report.left_out, "bytes": report.bytes})


async def run_pictures_job(
    job_id: str, store: Store, retrieval: Retrieval, progress: Progress = ignore_progress
) -> Mapping[str, Any]:
    """Run a pictures job in this process, or wait for the process that runs it already; return its report."""
    worker = f"pictures:{os.getpid()}:{uuid.uuid4().hex[:8]}"
    while True:
        now = clock.now()
        until = clock.add_seconds(now, LEASE_SECONDS)
        job = await to_thread(store.jobs.lease, worker, now, until, job_id=job_id)
        if job is not None:
            break
        known = await to_thread(store.jobs.get, job_id)
        if known.state not in ("queued", "running"):
            return dict(known.options.get("report", {}))
        await asyncio.sleep(_POLL_SECONDS)
    try:
        done = await pictures_job(job, store, retrieval, progress)
    except BaseException:
        store.jobs.fail(job_id, worker, _INTERRUPTED, retry_at=clock.now(), counts=False)  # another process can go on
        raise
    await to_thread(store.jobs.finish, job_id, worker, None, done.report)
    return done.report or {}
