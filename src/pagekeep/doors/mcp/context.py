"""The context of a tool call: the caller's library and the means to fetch pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass, field

from pagekeep.capture.from_url import Captured, Progress, RenderMode, Request, Retrieval, capture
from pagekeep.errors import NotAllowed
from pagekeep.library.open import Store
from pagekeep.model import Item, SaveResult
from pagekeep.model.crawl import Crawl


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The context of one caller."""

    library: Store
    retrieval: Retrieval
    may_write: bool
    """Whether the caller may save and change items."""
    works_alone: bool = False
    """Whether no server runs the jobs of the queue, so that this process keeps pictures and crawls itself."""
    running: set[asyncio.Task[object]] = field(default_factory=set)
    """Work that goes on after the answer."""
    crawling: set[str] = field(default_factory=set)
    """Crawls that this process works on."""

    def writable_library(self) -> Store:
        """Return the library for changes; raise `NotAllowed` for a read-only caller."""
        if not self.may_write:
            raise NotAllowed("This connection is read-only.", suggestions=("Use a token with the scope `write`.",))
        return self.library

    async def capture(self, url: str, render: RenderMode | None, progress: Progress) -> Captured:
        """Fetch and extract the page at a URL, through the address guard."""
        return await capture(Request(url, render=render), self.retrieval, progress=progress)

    def keep_pictures(self, saved: SaveResult) -> None:
        """Begin to keep the pictures of a saved page, if no server does it."""
        if self.works_alone and saved.pictures_job is not None:
            from pagekeep.library.pictures.job import run_now

            self._begin(run_now(saved.pictures_job, self.library, self.retrieval))

    def work_on(self, crawl: Crawl) -> None:
        """Begin to work on a crawl, if no server does it; when this process ends, another one goes on with it."""
        if self.works_alone and crawl.state == "running" and crawl.id not in self.crawling:
            self.crawling.add(crawl.id)
            self._begin(self._crawl(crawl.id))

    async def _crawl(self, crawl_id: str) -> None:
        from pagekeep.library.crawl.background import drop_earlier_runs
        from pagekeep.library.crawl.worker import CrawlWorker

        try:
            ended = await CrawlWorker(crawl_id, self.library, self.retrieval, clients=2).run()
            if ended.state == "done":
                await asyncio.to_thread(drop_earlier_runs, self.library, crawl_id)
        finally:
            self.crawling.discard(crawl_id)

    def _begin(self, work: Coroutine[object, object, object]) -> None:
        task = asyncio.ensure_future(work)
        self.running.add(task)
        task.add_done_callback(self._forget)

    async def stop(self) -> None:
        """End what goes on after the answers; another process goes on with it."""
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)

    def _forget(self, task: asyncio.Task[object]) -> None:
        self.running.discard(task)
        if not task.cancelled():
            task.exception()  # the job goes back to the queue, which has the reason

    def find(self, key: str) -> Item:
        """Return an item by ID or URL."""
        from pagekeep.library.items import get_item

        return get_item(self.library, key)


current_context: ContextVar[ToolContext] = ContextVar("current_context")
"""On the server: the context of the caller, set for each request."""

ContextFinder = Callable[[], ToolContext]
