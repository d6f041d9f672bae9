"""Take screenshots for several users with one browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, Literal

from pagekeep.capture.slots import Slots
from pagekeep.errors import FetchTimeout

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
