"""Take screenshots for several users with one browser: a limited number at once, shared fairly."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, Literal

from pagekeep.errors import FetchTimeout, TooManyRequests

if TYPE_CHECKING:
    from pagekeep.fetch.browser.browser import Browser, PageCopies, PageScreenshot
    from pagekeep.model.archive import CopyKind


MAX_WAITING: Final = 8
"""Requests that may wait for a slot; further ones are refused."""
MAX_WAITING_PER_USER: Final = 3
"""On a shared server; a single user may fill the whole queue."""
_MIN_SECONDS: Final = 0.1
"""A page gets at least this long, even when the wait took all the time."""


class Screenshots:
    """Takes a few screenshots at a time; on a shared server, one user gets at most half of the slots."""

    def __init__(self, browser: Browser, slots: int, *, shared: bool) -> None:
        self._browser = browser
        self._slots = Slots(
            slots,
            per_user=max(1, slots // 2) if shared else slots,
            max_waiting=MAX_WAITING,
            max_waiting_per_user=MAX_WAITING_PER_USER if shared else MAX_WAITING,
        )

    async def take(
        self,
        user_id: str,
        url: str,
        part: Literal["window", "whole"],
        *,
        timeout: float,
        wait_for: str | None = None,
        html: bytes | None = None,
    ) -> PageScreenshot:
        """Return the page and its screenshot; `timeout` includes the wait for a slot.

        Raises `TooManyRequests` when too many wait already.
        """
        async with self._hold(user_id, timeout) as seconds:
            return await self._browser.screenshot(url, part, wait_for=wait_for, timeout=seconds, html=html)

    async def copy(
        self, user_id: str, url: str, kinds: tuple[CopyKind, ...], *, timeout: float, html: bytes | None = None
    ) -> PageCopies:
        """Return the page and copies of it; `timeout` and errors are as in `take`."""
        async with self._hold(user_id, timeout) as seconds:
            return await self._browser.copy(url, kinds, timeout=seconds, html=html)

    @asynccontextmanager
    async def _hold(self, user_id: str, timeout: float) -> AsyncIterator[float]:
        try:
            async with self._slots.hold(user_id, timeout) as remaining:
                seconds = max(remaining, _MIN_SECONDS)
                yield seconds
        except TimeoutError:
            raise FetchTimeout(f"The browser was busy with other pages for {timeout:g} seconds.") from None


class Slots:
    """Limits the slots in use and the callers that wait, in total and per user. For one event loop."""

    def __init__(self, count: int, *, per_user: int, max_waiting: int, max_waiting_per_user: int) -> None:
        self._count = count
        self._per_user = per_user
        self._max_waiting = max_waiting
        self._max_waiting_per_user = max_waiting_per_user
        self._busy: Counter[str] = Counter()
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def hold(self, user_id: str, seconds: float) -> AsyncIterator[float]:
        """Wait for a slot and hold it; yield the seconds that are left of `seconds`.

        Raises `TimeoutError` when no slot is free in time, `TooManyRequests` when too many wait already.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + seconds
        if self._is_free(user_id):
            self._busy[user_id] += 1
        else:
            await self._wait(user_id, deadline)
        try:
            yield deadline - clock()
        finally:
            self._release(user_id)

    def _is_free(self, user_id: str) -> bool:
        return self._busy.total() < self._count and self._busy[user_id] < self._per_user

    async def _wait(self, user_id: str, deadline: float) -> None:
        own = sum(waiting == user_id for waiting, _ in self._waiting)
        if len(self._waiting) >= self._max_waiting or own >= self._max_waiting_per_user:
            raise TooManyRequests("Too many requests are waiting.", suggestions=("Try again in a minute.",))
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((user_id, granted))
        try:
            async with asyncio.timeout_at(deadline):
                await granted
        except BaseException:
            if granted.done() and not granted.cancelled():  # granted just as the wait ended
                self._release(user_id)
            raise
        finally:
            self._waiting = [entry for entry in self._waiting if entry[1] is not granted]

    def _release(self, user_id: str) -> None:
        self._busy[user_id] -= 1
        if not self._busy[user_id]:
            del self._busy[user_id]
        for waiting, granted in self._waiting:
            if not granted.done() and self._is_free(waiting):
                self._busy[waiting] += 1  # counted now, so that a new caller cannot take the slot first
                granted.set_result(None)
