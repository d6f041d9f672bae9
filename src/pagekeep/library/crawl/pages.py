"""Read the pages of a crawl, in the order in which they were found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.model import RawPage
from pagekeep.model.crawl import PROBLEMS, CrawledPage
from pagekeep.store import Store

_BATCH: Final = 50
"""Pages read at a time."""


def read_pages(store: Store, crawl_id: str, *, after: int = -1) -> Iterator[CrawledPage]:
    """Yield the pages of a crawl in order: seeds first, then what they link to, as far as they are decided."""
    while batch := list_pages(store, crawl_id, after=after, limit=_BATCH):
        yield from batch
        after = batch[-1].position


def list_pages(store: Store, crawl_id: str, *, after: int = -1, limit: int = 100) -> tuple[CrawledPage, ...]:
    """Return some pages of a crawl, from after a position."""
    return store.crawled(crawl_id, ("kept",), after=after, limit=limit)


def list_problems(store: Store, crawl_id: str, *, after: int = -1, limit: int = 100) -> tuple[CrawledPage, ...]:
    """Return some addresses of a crawl that gave no page, with the reason of each."""
    return store.crawled(crawl_id, PROBLEMS, after=after, limit=limit)


def read_raw(store: Store, crawl_id: str, page: CrawledPage) -> RawPage | None:
    """Return the response that a page was read from, if it was kept."""
    return store.crawl_raw(crawl_id, page.position)
