"""Take a screenshot of the open page, with limits on size and time."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Final

from pagekeep.errors import TooLarge
from pagekeep.fetch.browser.flags import HEIGHT, WIDTH
from pagekeep.fetch.browser.isolated_world import IsolatedWorld, Navigated

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

MAX_HEIGHT: Final = 20_000
"""Pixels; 26 megapixels in total."""
MAX_BYTES: Final = 20_000_000
"""Size of the PNG."""
MAX_LOAD_SECONDS: Final = 5.0
"""Seconds to wait for images, fonts and style sheets."""
_CHECK_SECONDS: Final = 0.1
"""Time between two checks whether everything is loaded."""


async def take(session: CDPSession, world: IsolatedWorld, *, whole: bool, seconds: float) -> bytes:
    """Return the page as PNG: what the window shows, or the whole page up to `MAX_HEIGHT`.

    `seconds` limits the wait for images.
    """
    await wait_until_loaded(world, min(MAX_LOAD_SECONDS, seconds))
    height = HEIGHT
    if whole:
        size = (await session.send("Page.getLayoutMetrics"))["cssContentSize"]
        height = max(HEIGHT, min(MAX_HEIGHT, int(size["height"])))
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}
    screenshot = await session.send(
        "Page.captureScreenshot", {"format": "png", "clip": clip, "captureBeyondViewport": whole}
    )
    if len(screenshot["data"]) * 3 // 4 > MAX_BYTES:
        message = f"The screenshot is larger than the limit of {MAX_BYTES / 1e6:g} MB."
        raise TooLarge(message, suggestions=("Request the page as text.",))
    return base64.b64decode(screenshot["data"])


async def wait_until_loaded(world: IsolatedWorld, seconds: float) -> None:
    """Wait until the page has loaded what it shows, or the time is up."""
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    while clock() < until:
        try:
            if not await world.is_loading():
                return
        except Navigated:
            pass
        await asyncio.sleep(_CHECK_SECONDS)
