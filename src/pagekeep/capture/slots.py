"""Turns at something scarce: in the order of coming, but nobody takes it all."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pagekeep.errors import TooManyRequests


class Turns:
    """So many at once, and so many of them for each user; few wait, and the others are told to come back.

    For one event loop.
    """

    def __init__(self, at_once: int, *, each: int, waiting: int, each_waiting: int) -> None:
        self._at_once = at_once
        self._each = each
        self._most_waiting = waiting
        self._each_waiting = each_waiting
        self._busy: Counter[str] = Counter()
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def turn(self, user_id: str, seconds: float) -> AsyncIterator[float]:
        """One turn, and the seconds that are left of those given; `TimeoutError` when none comes in time."""
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        if self._may_begin(user_id):
            self._busy[user_id] += 1
        else:
            await self._called(user_id, until)
        try:
            yield until - clock()
        finally:
            self._end(user_id)

    def _may_begin(self, user_id: str) -> bool:
        return self._busy.total() < self._at_once and self._busy[user_id] < self._each

    async def _called(self, user_id: str, until: float) -> None:
        if self._is_crowded(user_id):
            raise TooManyRequests("Others wait for the same already.", suggestions=("Try again in a minute.",))
        call: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((user_id, call))
        try:
            async with asyncio.timeout_at(until):
                await call
        except BaseException:
            if call.done() and not call.cancelled():  # called in the moment of going
                self._end(user_id)
            raise
        finally:
            self._waiting = [waits for waits in self._waiting if waits[1] is not call]

    def _is_crowded(self, user_id: str) -> bool:
        own = sum(waits == user_id for waits, _ in self._waiting)
        return len(self._waiting) >= self._most_waiting or own >= self._each_waiting

    def _end(self, user_id: str) -> None:
        self._busy[user_id] -= 1
        if not self._busy[user_id]:
            del self._busy[user_id]
        for waits, call in self._waiting:
            if not call.done() and self._may_begin(waits):
                self._busy[waits] += 1  # now, so that nobody who comes meanwhile is quicker
                call.set_result(None)
