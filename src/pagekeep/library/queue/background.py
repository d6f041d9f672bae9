"""Running jobs in the background of a server: started and stopped with it."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, closing, suppress
from threading import Lock
from time import monotonic
from typing import Final

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import StoreError
from pagekeep.library.crawl.background import CrawlRunner
from pagekeep.library.history import links
from pagekeep.library.open import open_library
from pagekeep.library.queue.progress import Board
from pagekeep.library.queue.runner import JobResult, JobRunner
from pagekeep.library.sinks.runner import SinkRunner

GRACE: Final = 5.0
"""Seconds that running jobs have to finish when the server stops; then they go back to the queue."""
CRAWL_PAGES: Final = 2
"""Pages of one crawl that a server reads at a time: people who wait come first."""
PROBE_SECONDS: Final = 5.0
"""How long the result of a health check is kept, at least."""
PROBE_SHARE: Final = 100
"""It is kept for this many times as long as the check took, so that checking takes at most 1 % of the time."""


class Background:
    """A job runner, and the board that shows what it does."""

    def __init__(self, runner: JobRunner, board: Board, at_a_time: int) -> None:
        self.board = board
        self._runner = runner
        self._at_a_time = at_a_time
        self._probing = Lock()
        self._probe_again_at = 0.0
        self._probe_failure: StoreError | None = None

    def probe(self) -> None:
        """Raise `StoreError` when the library is damaged or cannot be written; the result is kept for some seconds."""
        with self._probing:
            started = monotonic()
            if started >= self._probe_again_at:
                try:
                    self._runner.queue.probe()
                    self._probe_failure = None
                except StoreError as error:
                    self._probe_failure = error
                ended = monotonic()
                self._probe_again_at = ended + max(PROBE_SECONDS, PROBE_SHARE * (ended - started))
            if self._probe_failure is not None:
                raise StoreError(self._probe_failure.message, suggestions=self._probe_failure.suggestions)

    def waiting(self) -> Mapping[str, int]:
        """Return how many jobs of all users are queued, running and dead."""
        return self._runner.queue.job_counts()

    def nudge(self) -> None:
        """Check the queue at once: a job was added."""
        self._runner.nudged.set()

    async def work(self) -> None:
        """Run jobs and crawls and deliver to sinks until stopped. A library that cannot be reached is tried again."""
        runner = self._runner
        sinks = SinkRunner(runner.name, runner.queue, runner.open_library, runner.retrieval, stopping=runner.stopping)
        crawls = CrawlRunner(runner.queue, runner.open_library, runner.retrieval, CRAWL_PAGES, stopping=runner.stopping)
        beside = [asyncio.create_task(work) for work in (crawls.run_on(), sinks.run_on())]
        try:
            await runner.run_on(lambda _error: None, at_a_time=self._at_a_time)
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)

    async def stop(self, task: asyncio.Task[None], grace: float) -> None:
        """Start no more jobs, let running ones finish, and return those that take too long to the queue."""
        self._runner.stopping.set()
        await asyncio.wait({task}, timeout=grace)
        task.cancel()
        with suppress(asyncio.CancelledError, StoreError):
            await task


def schedule_checks(settings: Settings) -> None:
    """Have the addresses of the local user's pages checked; on a shared server, each user's first save does that."""
    if settings.check_links_days and not settings.shared:
        with closing(open_library(settings)) as library:
            links.ensure_schedule(library)


@asynccontextmanager
async def run_in_background(
    settings: Settings,
    retrieval: Retrieval,
    report: Callable[[JobResult], None],
    *,
    at_a_time: int = 4,
    grace: float = GRACE,
) -> AsyncIterator[Background]:
    """Run jobs of all users of the library in the background."""
    board = Board()
    queue = await asyncio.to_thread(open_library, settings, workers=True)
    await asyncio.to_thread(schedule_checks, settings)

    def finish(result: JobResult) -> None:
        board.drop(result.job.id)
        report(result)

    runner = JobRunner(
        name=f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}",
        queue=queue,
        open_library=lambda user: open_library(settings, user),
        retrieval=retrieval,
        report=finish,
        progress=lambda job, stage: board.put(job.id, stage),
    )
    background = Background(runner, board, at_a_time)
    task = asyncio.create_task(background.work())
    try:
        yield background
    finally:
        await background.stop(task, grace)
        queue.close()
