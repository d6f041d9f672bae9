"""Work on the running crawls of all users, beside the jobs of the queue: in `pagekeep work` and in servers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Final

from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import NotFound, StoreError
from pagekeep.library.crawl.worker import CrawlWorker
from pagekeep.library.open import outlast
from pagekeep.model.crawl import Crawl
from pagekeep.store import Store

_log: Final = logging.getLogger("pagekeep.crawls")
POLL_SECONDS: Final = 2.0
"""How often running crawls are looked for."""
RETRY_SECONDS: Final = 5.0
"""Seconds before the library is tried again after it failed."""
MAX_CRAWLS: Final = 4
"""Crawls that one process works on at a time."""
SLICE_SECONDS: Final = 30.0
"""Seconds that a process works on a crawl while others wait."""


def _ignore(_crawl: Crawl) -> None:
    """Report nothing."""


@dataclass(slots=True)
class CrawlRunner:
    """Works on running crawls, several at a time."""

    queue: Store
    """Opened for workers: sees the crawls of all users."""
    open_library: Callable[[str], Store]
    retrieval: Retrieval
    at_a_time: int = 4
    """Pages of one crawl that are read at a time."""
    report: Callable[[Crawl], None] = _ignore
    """Called with a crawl that is done."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _active: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    async def run_on(self) -> None:
        """Work until stopped. While the library fails, as on a full disk, try again."""
        while not self.stopping.is_set():
            with suppress(StoreError):
                await self.run()
            await asyncio.sleep(RETRY_SECONDS)

    async def run(self, *, until_empty: bool = False) -> None:
        """Work until stopped or, with `until_empty`, until no crawl is running."""
        try:
            while not self.stopping.is_set():
                running = await outlast(lambda: asyncio.to_thread(self.queue.running_crawls), self.stopping)
                waiting = [entry for entry in running if entry[1] not in self._active]
                for user, crawl_id in waiting[: MAX_CRAWLS - len(self._active)]:
                    self._active[crawl_id] = asyncio.create_task(self._work(user, crawl_id, len(running)))
                if until_empty and not self._active:
                    return
                await self._wait()
        finally:
            for task in self._active.values():
                task.cancel()
            await asyncio.gather(*self._active.values(), return_exceptions=True)
            self._active.clear()

    async def _wait(self) -> None:
        stop = asyncio.ensure_future(self.stopping.wait())
        try:
            await asyncio.wait(
                {stop, *self._active.values()}, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            stop.cancel()
        for crawl_id, task in list(self._active.items()):
            if task.done():
                del self._active[crawl_id]
                task.result()

    async def _work(self, user: str, crawl_id: str, running: int) -> None:
        """Work on one crawl; where more are running than are worked on, for a slice of time."""
        seconds = SLICE_SECONDS if running > MAX_CRAWLS else None
        try:
            with closing(await asyncio.to_thread(self.open_library, user)) as library:
                worker = CrawlWorker(crawl_id, library, self.retrieval, self.at_a_time, stopping=self.stopping)
                crawl = await worker.run(seconds)
                if crawl.state == "done":
                    await asyncio.to_thread(drop_earlier_runs, library, crawl_id)
                    self.report(crawl)
        except NotFound:  # removed
            return
        except StoreError as error:
            _log.warning("crawl interrupted", extra={"fields": {"crawl": crawl_id, "error": error.message}})
            await asyncio.sleep(POLL_SECONDS)


def drop_earlier_runs(library: Store, crawl_id: str) -> None:
    """Delete the pages of earlier runs, which are no longer needed when a run is done."""
    while library.drop_earlier_run(crawl_id):
        pass
