"""Keep users' libraries open between requests, and close idle ones when there are too many."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Final

from starlette.concurrency import run_in_threadpool

from pagekeep.library.open import Store

MAX_OPEN: Final = 200
"""Open libraries; beyond that, the least recently used idle ones are closed."""


@dataclass(slots=True)
class _Entry:
    opening: Future[Store]
    """The library, or the error of opening it; requests that come meanwhile wait for it."""
    requests: int = 0
    """Requests that use it now."""

    @property
    def idle(self) -> bool:
        return not self.requests and self.opening.done()


class OpenLibraries:
    """The open libraries by user, the most recently used last. A library in use stays open, however many there are."""

    def __init__(self, open_library: Callable[[str], Store], max_open: int = MAX_OPEN) -> None:
        self._open_library = open_library
        self._max_open = max_open
        self._entries: dict[str, _Entry] = {}
        self._lock = Lock()  # held only briefly: the event loop waits for it

    @asynccontextmanager
    async def borrow(self, user_id: str) -> AsyncIterator[Store]:
        """Yield the user's library, which stays open until it is given back; for a stream, until its end."""
        entry, is_new = self._take(user_id)
        try:
            if is_new:
                await run_in_threadpool(self._open, user_id, entry)
            # Every switch to another thread waits for busy ones, so only opening uses one.
            yield entry.opening.result() if entry.opening.done() else await asyncio.wrap_future(entry.opening)
        finally:
            closing = self._give_back(entry)
            if closing:
                await asyncio.get_running_loop().run_in_executor(None, _close, closing)

    def in_use(self, user_id: str) -> bool:
        """Return whether a request uses the user's library now."""
        entry = self._entries.get(user_id)
        return entry is not None and entry.requests > 0

    async def drain(self, seconds: float) -> None:
        """Wait until no request uses a library, but not longer: requests that were cancelled still store what they began."""
        ends = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < ends and any(entry.requests for entry in self._entries.values()):
            await asyncio.sleep(0.02)

    def close(self) -> None:
        """Close all libraries."""
        with self._lock:
            closing = list(self._entries.values())
            self._entries.clear()
        _close(closing)

    def _take(self, user_id: str) -> tuple[_Entry, bool]:
        """Return the user's entry and whether it is new, so that the library must be opened."""
        with self._lock:
            existing = self._entries.pop(user_id, None)
            entry = existing or _Entry(Future())
            self._entries[user_id] = entry  # now the most recently used
            entry.requests += 1
        if existing is None:
            entry.opening.set_running_or_notify_cancel()  # so that a cancelled request cannot cancel it for the others
        return entry, existing is None

    def _open(self, user_id: str, entry: _Entry) -> None:
        try:
            entry.opening.set_result(self._open_library(user_id))
        except BaseException as error:
            with self._lock:  # so that the next request tries again
                if self._entries.get(user_id) is entry:
                    del self._entries[user_id]
            entry.opening.set_exception(error)

    def _give_back(self, entry: _Entry) -> list[_Entry]:
        """Return the entries to close, to stay below the limit."""
        with self._lock:
            entry.requests -= 1
            if len(self._entries) <= self._max_open:
                return []
            idle = [user_id for user_id, one in self._entries.items() if one.idle]
            return [self._entries.pop(user_id) for user_id in idle[: len(self._entries) - self._max_open]]


def _close(entries: list[_Entry]) -> None:
    for entry in entries:
        if entry.opening.done() and entry.opening.exception() is None:
            entry.opening.result().close()
