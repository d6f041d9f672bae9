"""Start, list, cancel, resume and remove crawls; read their pages, and save them into the library."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import monotonic
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.errors import Conflict, NotFound, PagekeepError, StoreError
from pagekeep.library.crawl.addresses import CrawlOptions, check_options, options_from_json
from pagekeep.library.crawl.settle import first_addresses
from pagekeep.library.items.build_item import to_fetched
from pagekeep.library.queue import SLICE_SECONDS, SaveRequest, SliceResult
from pagekeep.library.saving.save import save
from pagekeep.model import Job, RawPage
from pagekeep.model.crawl import PROBLEMS, Crawl, CrawledPage
from pagekeep.store import Store

_MAX_CRAWLS: Final = 10_000
"""Crawls among which the beginning of an id is looked up."""
LIMITS: Final = ("depth", "pages", "bytes", "minutes")
"""Options that can be changed when a crawl goes on."""


def start_crawl(store: Store, options: CrawlOptions) -> Crawl:
    """Return a crawl for these options: a new one, the one that is not done, or the next run of one that is.

    A crawl with the same seeds and patterns is the same crawl; when it is run again it updates its pages.
    """
    options = check_options(options)
    first, counts = first_addresses(options)
    return store.crawls.start(options.name, options.seeds[0], options.to_json(), first, counts, clock.now())


def find_crawl(store: Store, prefix: str) -> Crawl:
    """Return the crawl whose id starts with the prefix, or whose first seed is this URL."""
    found = [crawl for crawl in store.crawls.list(_MAX_CRAWLS) if crawl.id.startswith(prefix) or crawl.url == prefix]
    if len(found) != 1:
        raise NotFound(
            f"There is {'no' if not found else 'more than one'} crawl {prefix!r:.200}.",
            suggestions=("Look for its id in the list of crawls.",),
        )
    return found[0]


def cancel_crawl(store: Store, crawl_id: str) -> Crawl:
    """End a running crawl; its pages stay, and it can be resumed."""
    return store.crawls.cancel(crawl_id, clock.now())


def resume_crawl(store: Store, crawl_id: str, **limits: Any) -> Crawl:
    """Let a crawl go on where it ended, with larger limits if given. A finished one has nothing left to do."""
    crawl = store.crawls.get(crawl_id)
    if crawl.state == "running" and not limits:
        return crawl
    if crawl.state == "done" and crawl.settled >= crawl.admitted:
        raise Conflict(
            f"The crawl of {crawl.url} is finished.",
            suggestions=("To update its pages, start it again with its URL.",),
        )
    options = check_options(replace(options_from_json(crawl.options), **limits))
    return store.crawls.resume(crawl.id, options.to_json(), clock.now())


def remove_crawl(store: Store, crawl_id: str) -> None:
    """Delete a crawl with its pages; pages that were saved into the library stay."""
    webhook = store.crawls.get(crawl_id).options.get("webhook")
    store.crawls.remove(crawl_id)
    if webhook:
        store.sinks.remove(webhook)


def start_again(store: Store, crawl_id: str) -> Crawl:
    """Update the pages of a crawl that is done, with the same options."""
    return start_crawl(store, replace(options_from_json(store.crawls.get(crawl_id).options), webhook=None))


_BATCH: Final = 50
"""Pages read at a time."""


def read_pages(store: Store, crawl_id: str, *, after: int = -1) -> Iterator[CrawledPage]:
    """Yield the pages of a crawl in order: seeds first, then what they link to, as far as they are decided."""
    while batch := list_pages(store, crawl_id, after=after, limit=_BATCH):
        yield from batch
        after = batch[-1].position


def list_pages(store: Store, crawl_id: str, *, after: int = -1, limit: int = 100) -> tuple[CrawledPage, ...]:
    """Return some pages of a crawl, from after a position."""
    return store.crawls.pages(crawl_id, ("kept",), after=after, limit=limit)


def list_problems(store: Store, crawl_id: str, *, after: int = -1, limit: int = 100) -> tuple[CrawledPage, ...]:
    """Return some addresses of a crawl that gave no page, with the reason of each."""
    return store.crawls.pages(crawl_id, PROBLEMS, after=after, limit=limit)


def read_raw(store: Store, crawl_id: str, page: CrawledPage) -> RawPage | None:
    """Return the response that a page was read from, if it was kept."""
    return store.crawls.raw(crawl_id, page.position)


_SAVED_AT_A_TIME: Final = 20


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
    while batch := await to_thread(list_pages, store, crawl_id, after=after, limit=_SAVED_AT_A_TIME):
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
        await save(SaveRequest(Request(page.url), tags, uploaded=fetched, source="web"), store, retrieval)
    except StoreError:
        raise
    except PagekeepError:  # such as a page that the parser cannot read in time: it is in the list of failed saves
        return 0
    return 1


async def save_job(job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None]) -> SliceResult:
    """Save the pages of a finished crawl, as a job; nothing when it was removed or run again."""
    before: dict[str, Any] = dict(job.options.get("so_far") or {"saved": 0, "after": -1})
    try:
        crawl = await to_thread(store.crawls.get, str(job.options.get("crawl")))
    except NotFound:
        return SliceResult(report={"saved": 0})
    if crawl.run != job.options.get("run"):
        return SliceResult(report={"saved": before["saved"]})
    progress("Saving")
    tags = options_from_json(crawl.options).tags
    saved, last = await save_pages(store, crawl.id, retrieval, tags=tags, after=before["after"], seconds=SLICE_SECONDS)
    total = before["saved"] + saved
    if last is None:
        return SliceResult(report={"saved": total})
    return SliceResult(so_far={"saved": total, "after": last})
