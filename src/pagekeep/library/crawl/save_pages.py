"""Save the pages of a crawl into the library, as items."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable
from time import monotonic
from typing import Any, Final

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.errors import NotFound, PagekeepError, StoreError
from pagekeep.library.build_item import to_fetched
from pagekeep.library.crawl.options import from_json
from pagekeep.library.crawl.pages import list_pages, read_raw
from pagekeep.library.queue.slices import SLICE_SECONDS, SliceResult
from pagekeep.library.save import save
from pagekeep.model import Job
from pagekeep.model.crawl import CrawledPage
from pagekeep.store import Store

_BATCH: Final = 20


async def save_pages(
    store: Store,
    crawl_id: str,
    retrieval: Retrieval,
    *,
    tags: tuple[str, ...] = (),
    after: int = -1,
    seconds: float | None = None,
    progress: Callable[[int], None] = lambda _saved: None,
) -> tuple[int, int | None]:
    """Save pages from after a position, for at most these seconds; return how many, and the last position if there are more."""
    ends = None if seconds is None else monotonic() + seconds
    saved = 0
    while batch := await to_thread(list_pages, store, crawl_id, after=after, limit=_BATCH):
        for page in batch:
            saved += await _save_page(store, crawl_id, page, retrieval, tags)
            after = page.position
            progress(saved)
            if ends is not None and monotonic() > ends:
                return saved, after
    return saved, None


async def _save_page(
    store: Store, crawl_id: str, page: CrawledPage, retrieval: Retrieval, tags: tuple[str, ...]
) -> int:
    raw = await to_thread(read_raw, store, crawl_id, page)
    fetched = None if raw is None else to_fetched(raw)
    try:
        await save(Request(page.url), store, retrieval, tags=tags, uploaded=fetched, source="web")
    except StoreError:
        raise
    except PagekeepError:  # such as a page that the parser cannot read in time: it is in the list of failed saves
        return 0
    return 1


async def save_job(job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]) -> SliceResult:
    """Save the pages of a finished crawl, as a job; nothing when it was removed or run again."""
    before: dict[str, Any] = dict(job.options.get("so_far") or {"saved": 0, "after": -1})
    try:
        crawl = await to_thread(store.crawl, str(job.options.get("crawl")))
    except NotFound:
        return SliceResult(report={"saved": 0})
    if crawl.run != job.options.get("run"):
        return SliceResult(report={"saved": before["saved"]})
    progress("Saving")
    tags = from_json(crawl.options).tags
    saved, last = await save_pages(store, crawl.id, retrieval, tags=tags, after=before["after"], seconds=SLICE_SECONDS)
    total = before["saved"] + saved
    if last is None:
        return SliceResult(report={"saved": total})
    return SliceResult(so_far={"saved": total, "after": last})
