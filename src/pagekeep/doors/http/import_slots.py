"""Imports under way: each reads a file to its end, in a thread that no other work needs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import Final, TypeVar

from pagekeep.errors import TooManyRequests

AT_ONCE: Final = 2
"""An import may take minutes: those that answer everybody else's requests are not to wait for one."""
T = TypeVar("T")


class Imports:
    """So many at once. Whoever comes when all are taken is told to come back: waiting would cost both sides a connection."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._seats = BoundedSemaphore(at_once)
        self._threads = ThreadPoolExecutor(max(1, at_once), thread_name_prefix="pagekeep-import")

    async def run(self, work: Callable[[], T]) -> T:
        """What comes of the work; `TooManyRequests` when others are at theirs."""
        if not self._seats.acquire(blocking=False):
            raise TooManyRequests(
                "Other imports are under way.",
                suggestions=("Send the file again in a minute.", "Or use the command: pagekeep import FILE"),
            )
        doing = self._threads.submit(work)
        doing.add_done_callback(lambda _: self._seats.release())  # not when the request ends: the thread may go on
        return await asyncio.wrap_future(doing)

    def close(self) -> None:
        """No more."""
        self._threads.shutdown(wait=False, cancel_futures=True)
