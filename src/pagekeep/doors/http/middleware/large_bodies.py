"""Large bodies of one user wait for each other, in the socket: each takes several times its size while it is worked on."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

LARGE_BYTES: Final = 1_000_000
"""Smaller bodies never wait."""
MAX_USER_BYTES: Final = 12_000_000
"""Large bodies of one user that are read or worked on at a time: a page of 10 MB as JSON, or six of 2 MB. One of 10 MB takes
the server 22 to 83 MB by its route and its result, and up to 223 MB if it is all pictures."""


class LargeBodies:
    """The turns of large bodies, by user: those of one never wait for those of another. For one event loop."""

    def __init__(self, max_user_bytes: int = MAX_USER_BYTES) -> None:
        self._max = max_user_bytes
        self._in_use: dict[str, int] = {}
        self._waiting: dict[str, deque[tuple[int, asyncio.Future[None]]]] = {}

    @asynccontextmanager
    async def take(self, user: str, length: int) -> AsyncIterator[None]:
        """Wait until the user's other large bodies leave room for one of this length, and hold the room."""
        if length < LARGE_BYTES:
            yield
            return
        length = min(length, self._max)  # a larger one goes alone
        if user in self._waiting or self._in_use.get(user, 0) + length > self._max:
            await self._wait(user, length)
        else:
            self._in_use[user] = self._in_use.get(user, 0) + length
        try:
            yield
        finally:
            self._free(user, length)

    async def _wait(self, user: str, length: int) -> None:
        entry = (length, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(user, deque()).append(entry)
        try:
            await entry[1]
        except asyncio.CancelledError:
            if entry[1].done() and not entry[1].cancelled():  # it had just got the room
                self._free(user, length)
            else:
                self._waiting[user].remove(entry)
                self._free(user, 0)  # those behind it may be smaller
            raise

    def _free(self, user: str, length: int) -> None:
        """Free room, and give it to those who wait, in their order."""
        in_use, waiting = self._in_use.pop(user, 0) - length, self._waiting.pop(user, deque())
        while waiting and in_use + waiting[0][0] <= self._max:
            following, turn = waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                in_use += following
        if in_use:
            self._in_use[user] = in_use
        if waiting:
            self._waiting[user] = waiting
