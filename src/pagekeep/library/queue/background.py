"""The queue's worker beside a server: begun with it, and ended in order with it."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final

from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import StoreError
from pagekeep.library.items import open_library
from pagekeep.library.queue.jobs import Worked, Worker
from pagekeep.library.queue.progress import Board

GRACE: Final = 5.0
"""Seconds that jobs under way have to end by themselves; then they go back to the queue."""
_PAUSE: Final = 5.0
"""Seconds before the queue is looked at again after it failed."""


class Background:
    """A worker and the board that tells what it does."""

    def __init__(self, worker: Worker, board: Board, at_a_time: int) -> None:
        self.board = board
        self._worker = worker
        self._at_a_time = at_a_time

    def waiting(self) -> Mapping[str, int]:
        """How many jobs of all users are queued, running and dead."""
        return self._worker.queue.job_counts()

    def nudge(self) -> None:
        """A job was put in."""
        self._worker.nudged.set()

    async def work(self) -> None:
        """Until told to stop. A library that cannot be reached for a while is asked again."""
        while not self._worker.stopping.is_set():
            try:
                await self._worker.run(at_a_time=self._at_a_time)
            except StoreError:
                await asyncio.sleep(_PAUSE)

    async def stop(self, working: asyncio.Task[None], grace: float) -> None:
        """Begin nothing more, let what is under way end, and put back what does not in time."""
        self._worker.stopping.set()
        await asyncio.wait({working}, timeout=grace)
        working.cancel()
        with suppress(asyncio.CancelledError, StoreError):
            await working


@asynccontextmanager
async def working(
    settings: Settings,
    retrieval: Retrieval,
    tell: Callable[[Worked], None],
    *,
    at_a_time: int = 4,
    grace: float = GRACE,
) -> AsyncIterator[Background]:
    """A worker at its work, for all users of the library."""
    board = Board()
    queue = await asyncio.to_thread(open_library, settings, workers=True)

    def told(worked: Worked) -> None:
        board.drop(worked.job.id)
        tell(worked)

    worker = Worker(
        name=f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}",
        queue=queue,
        open_library=lambda user: open_library(settings, user),
        retrieval=retrieval,
        tell=told,
        progress=lambda job, stage: board.put(job.id, stage),
    )
    background = Background(worker, board, at_a_time)
    task = asyncio.create_task(background.work())
    try:
        yield background
    finally:
        await background.stop(task, grace)
        queue.close()
