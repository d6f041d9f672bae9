"""Run imports in their own threads, at most a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import Final, TypeVar

from pagekeep.errors import TooManyRequests

MAX_IMPORTS: Final = 2
"""An import may take minutes; it must not block the threads that answer other requests."""
T = TypeVar("T")


class ImportSlots:
    """A limited number of concurrent imports. Further ones are rejected, because waiting would hold a connection open."""

    def __init__(self, max_imports: int = MAX_IMPORTS) -> None:
        self._slots = BoundedSemaphore(max_imports)
        self._threads = ThreadPoolExecutor(max(1, max_imports), thread_name_prefix="pagekeep-import")

    async def run(self, work: Callable[[], T]) -> T:
        """Run an import and return its result; raise `TooManyRequests` if all slots are in use."""
        if not self._slots.acquire(blocking=False):
            raise TooManyRequests(
                "Other imports are running.",
                suggestions=("Try again in a minute.", "Or use the command: pagekeep import FILE"),
            )
        future = self._threads.submit(work)
        future.add_done_callback(lambda _: self._slots.release())  # not when the request ends: the thread may go on
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Accept no more imports."""
        self._threads.shutdown(wait=False, cancel_futures=True)
