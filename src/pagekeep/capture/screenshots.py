"""Pictures of pages for several people, by one browser that pictures a few at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pagekeep.capture.slots import Turns
from pagekeep.errors import FetchTimeout

if TYPE_CHECKING:
    from pagekeep.fetch.browser.browser import Browser, PageScreenshot

WAITING: Final = 8
EACH_WAITING: Final = 3
"""On a shared server; alone one may fill the whole queue."""


class Camera:
    """Takes turns; on a shared server nobody has more than half of the places, however slow their pages are."""

    def __init__(self, browser: Browser, at_once: int, *, shared: bool) -> None:
        self._browser = browser
        each, each_waiting = (max(1, at_once // 2), EACH_WAITING) if shared else (at_once, WAITING)
        self._turns = Turns(at_once, each=each, waiting=WAITING, each_waiting=each_waiting)

    async def picture(
        self,
        user_id: str,
        url: str,
        part: Literal["window", "whole"],
        *,
        timeout: float,
        wait_for: str | None = None,
        html: bytes | None = None,
    ) -> PageScreenshot:
        """The page and its picture; `timeout` covers the wait for a turn, too. `TooManyRequests` when too many wait."""
        try:
            async with self._turns.turn(user_id, timeout) as left:
                return await self._browser.screenshot(url, part, wait_for=wait_for, timeout=max(left, 0.1), html=html)
        except TimeoutError:
            raise FetchTimeout(f"The browser was busy with other pages for {timeout:g} seconds.") from None
