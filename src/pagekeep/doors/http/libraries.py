"""The libraries of those who are here: kept open for their next request, and closed when there are too many."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Final

from starlette.concurrency import run_in_threadpool

from pagekeep.store import Store

MOST_OPEN: Final = 200
"""Libraries kept open; those of people who have gone are closed to make room."""


@dataclass(slots=True)
class _Kept:
    store: Store
    requests: int = 0
    """In whose hands it is now."""


class Libraries:
    """By user, the last one used at the end. One that is in use stays open, however many there are."""

    def __init__(self, open_library: Callable[[str], Store], most: int = MOST_OPEN) -> None:
        self._open_library = open_library
        self._most = most
        self._kept: dict[str, _Kept] = {}
        self._lock = Lock()  # routes run in threads

    @asynccontextmanager
    async def borrowed(self, user_id: str) -> AsyncIterator[Store]:
        """The user's library, open at least until it is given back: for a stream, until its end."""
        if (
            user_id not in self._kept
        ):  # every way through another thread is a wait among busy ones: only opening is worth one
            await run_in_threadpool(self._ready, user_id)
        kept = self._taken(user_id)
        try:
            yield kept.store
        finally:
            with self._lock:
                kept.requests -= 1
                self._make_room()

    def in_use(self, user_id: str) -> bool:
        """Whether someone has the user's library now."""
        kept = self._kept.get(user_id)
        return kept is not None and kept.requests > 0

    def close(self) -> None:
        """At the end."""
        with self._lock:
            for kept in self._kept.values():
                kept.store.close()
            self._kept.clear()

    def _ready(self, user_id: str) -> None:
        with self._lock:
            self._at_hand(user_id)

    def _taken(self, user_id: str) -> _Kept:
        with self._lock:
            kept = self._at_hand(user_id)
            kept.requests += 1
            self._make_room()
            return kept

    def _at_hand(self, user_id: str) -> _Kept:
        kept = self._kept.pop(user_id, None) or _Kept(self._open_library(user_id))
        self._kept[user_id] = kept  # now the last one used
        return kept

    def _make_room(self) -> None:
        for user_id in [user_id for user_id, kept in self._kept.items() if not kept.requests]:
            if len(self._kept) <= self._most:
                return
            self._kept.pop(user_id).store.close()
