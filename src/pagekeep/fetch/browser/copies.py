"""Make copies of the open page, as Chromium shows it: a screenshot, a PDF, and the page with everything it loaded."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

from pagekeep.errors import TooLarge
from pagekeep.fetch.browser import screenshot
from pagekeep.fetch.browser.flags import HEIGHT
from pagekeep.fetch.browser.isolated_world import IsolatedWorld, Navigated
from pagekeep.model.archive import CopyKind

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

MAX_PDF_BYTES: Final = 50_000_000
MAX_SNAPSHOT_BYTES: Final = 80_000_000
"""Size of a page with everything it loaded, before what is too large is left out."""
_MAX_SCREENS: Final = 25
"""Screens to scroll through, so that pictures load that wait until they are in view: as high as a screenshot can be."""
_SCREEN_SECONDS: Final = 0.06
_CHUNK_BYTES: Final = 1_000_000
_PDF: Final[dict[str, Any]] = {
    "printBackground": True,
    "generateTaggedPDF": True,
    "generateDocumentOutline": True,
    "transferMode": "ReturnAsStream",
    "paperWidth": 8.27,
    "paperHeight": 11.69,
}


async def take(
    session: CDPSession, world: IsolatedWorld, kinds: Collection[CopyKind], seconds: float
) -> dict[CopyKind, bytes]:
    """Return the copies: PNG, PDF, and MHTML for `html`. `seconds` limits the wait for pictures."""
    clock = asyncio.get_running_loop().time
    until = clock() + seconds / 2
    await _scroll_through(session, world, until)
    await screenshot.wait_until_loaded(world, min(screenshot.MAX_LOAD_SECONDS, max(0.0, until - clock())))
    copies: dict[CopyKind, bytes] = {}
    if "screenshot" in kinds:
        copies["screenshot"] = await screenshot.take(session, world, whole=True, seconds=0.0)
    if "html" in kinds:
        answer = await session.send("Page.captureSnapshot", {"format": "mhtml"})
        copies["html"] = answer["data"].encode("utf-8", "replace")
        _refuse_large(copies["html"], MAX_SNAPSHOT_BYTES, "page with its pictures and styles")
    if "pdf" in kinds:
        copies["pdf"] = await _print(session)
    return copies


async def _scroll_through(session: CDPSession, world: IsolatedWorld, until: float) -> None:
    clock = asyncio.get_running_loop().time
    height = int((await session.send("Page.getLayoutMetrics"))["cssContentSize"]["height"])
    for screen in range(1, min(_MAX_SCREENS, height // HEIGHT + 1)):
        if clock() > until:
            break
        await _scroll_to(world, screen * HEIGHT)
        await asyncio.sleep(_SCREEN_SECONDS)
    await _scroll_to(world, 0)


async def _scroll_to(world: IsolatedWorld, y: int) -> None:
    try:
        await world.scroll_to(y)
    except Navigated:
        return


async def _print(session: CDPSession) -> bytes:
    """Return the page as PDF with links and an outline of its headings."""
    stream = (await session.send("Page.printToPDF", _PDF))["stream"]
    data = bytearray()
    try:
        while True:
            part = await session.send("IO.read", {"handle": stream, "size": _CHUNK_BYTES})
            piece = part["data"]
            data += base64.b64decode(piece) if part.get("base64Encoded") else piece.encode("latin-1")
            _refuse_large(data, MAX_PDF_BYTES, "PDF")
            if part["eof"]:
                return bytes(data)
    finally:
        await session.send("IO.close", {"handle": stream})


def _refuse_large(data: bytes | bytearray, limit: int, what: str) -> None:
    if len(data) > limit:
        raise TooLarge(f"The {what} is larger than the limit of {limit / 1e6:g} MB.", suggestions=())
