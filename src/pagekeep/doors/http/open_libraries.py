"""The libraries of those who are here: kept open for their next request, and closed when there are too many."""

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

MOST_OPEN: Final = 200
"""Libraries kept open; those of people who have gone are closed to make room."""


@dataclass(slots=True)
class _Kept:
    opening: Future[Store]
    """The library, or why there is none; whoever comes while it is being opened waits here."""
    requests: int = 0
    """In whose hands it is now."""

    @property
    def idle(self) -> bool:
        return not self.requests and self.opening.done()


class Libraries:
    """By user, the last one used at the end. One that is in use stays open, however many there are."""

    def __init__(self, open_library: Callable[[str], Store], most: int = MOST_OPEN) -> None:
        self._open_library = open_library
        self._most = most
        self._kept: dict[str, _Kept] = {}
        self._lock = Lock()  # held for a look at the list alone: the event loop waits for it

    @asynccontextmanager
    async def borrowed(self, user_id: str) -> AsyncIterator[Store]:
        """The user's library, open at least until it is given back: for a stream, until its end."""
        kept, is_new = self._taken(user_id)
        try:
            if is_new:
                await run_in_threadpool(self._open, user_id, kept)
            # Every way through another thread is a wait among busy ones: only opening is worth one.
            yield kept.opening.result() if kept.opening.done() else await asyncio.wrap_future(kept.opening)
        finally:
            gone = self._given_back(kept)
            if gone:
                await asyncio.get_running_loop().run_in_executor(None, _close, gone)

    def in_use(self, user_id: str) -> bool:
        """Whether someone has the user's library now."""
        kept = self._kept.get(user_id)
        return kept is not None and kept.requests > 0

    def close(self) -> None:
        """At the end."""
        with self._lock:
            gone = list(self._kept.values())
            self._kept.clear()
        _close(gone)

    def _taken(self, user_id: str) -> tuple[_Kept, bool]:
        """The user's place in the list, and whether it is new: then the library is to be opened."""
        with self._lock:
            there = self._kept.pop(user_id, None)
            kept = there or _Kept(Future())
            self._kept[user_id] = kept  # now the last one used
            kept.requests += 1
        if there is None:
            kept.opening.set_running_or_notify_cancel()  # now nobody who stops waiting can call it off for the others
        return kept, there is None

    def _open(self, user_id: str, kept: _Kept) -> None:
        try:
            kept.opening.set_result(self._open_library(user_id))
        except BaseException as error:
            with self._lock:  # the next one tries anew
                if self._kept.get(user_id) is kept:
                    del self._kept[user_id]
            kept.opening.set_exception(error)

    def _given_back(self, kept: _Kept) -> list[_Kept]:
        """Those that must go to make room are the caller's to close."""
        with self._lock:
            kept.requests -= 1
            if len(self._kept) <= self._most:
                return []
            idle = [user_id for user_id, one in self._kept.items() if one.idle]
            return [self._kept.pop(user_id) for user_id in idle[: len(self._kept) - self._most]]


def _close(gone: list[_Kept]) -> None:
    for kept in gone:
        if kept.opening.done() and kept.opening.exception() is None:
            kept.opening.result().close()
