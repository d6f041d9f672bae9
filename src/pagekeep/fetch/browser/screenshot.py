"""A picture of the page that is open, within bounds."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Final

from pagekeep.errors import TooLarge
from pagekeep.fetch.browser.flags import HEIGHT, WIDTH
from pagekeep.fetch.browser.world import Moved, World

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

TALLEST: Final = 20_000
"""Pixels; 26 megapixels in all."""
MOST_BYTES: Final = 20_000_000
PATIENCE: Final = 5.0
"""Seconds that pictures, fonts and style sheets have to come."""
_LOOK_EVERY: Final = 0.1


async def take(session: CDPSession, world: World, *, whole: bool, seconds: float) -> bytes:
    """The page as PNG: what the window shows, or all of it down to the bound. It waits at most so many seconds for pictures."""
    await _dressed(world, min(PATIENCE, seconds))
    height = HEIGHT
    if whole:
        size = (await session.send("Page.getLayoutMetrics"))["cssContentSize"]
        height = max(HEIGHT, min(TALLEST, int(size["height"])))
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}
    taken = await session.send(
        "Page.captureScreenshot", {"format": "png", "clip": clip, "captureBeyondViewport": whole}
    )
    if len(taken["data"]) * 3 // 4 > MOST_BYTES:
        raise TooLarge("The picture of the page is larger than the limit.", suggestions=("Ask for the page as text.",))
    return base64.b64decode(taken["data"])


async def _dressed(world: World, seconds: float) -> None:
    """Until the page has what it shows, or does not get it in time: then the picture is of what there is."""
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    while clock() < until:
        try:
            if not await world.is_waiting():
                return
        except Moved:
            pass
        await asyncio.sleep(_LOOK_EVERY)
