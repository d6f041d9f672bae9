"""One page in the browser, from a fresh context to its HTML."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from playwright.async_api import Error

from pagekeep.errors import FetchTimeout, RenderError, TooLarge
from pagekeep.fetch.browser import screenshot
from pagekeep.fetch.browser.engine import being_cancelled
from pagekeep.fetch.browser.playwright_errors import Crashed, failed_navigation
from pagekeep.fetch.browser.proxy import Pass
from pagekeep.fetch.browser.requests import Requests
from pagekeep.fetch.browser.settle import ENDLESS, Settling, Traffic
from pagekeep.fetch.browser.world import Moved, World
from pagekeep.fetch.content_type import refuse_other

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page, Request, Response

LOOK_EVERY: Final = 0.04
"""Seconds between two looks at the text."""
_WRAPPED: Final = frozenset(["text/html", "application/xhtml+xml", "application/xml", "text/xml", "application/json"])


@dataclass(frozen=True, slots=True)
class Ask:
    """What a caller wants of a visit."""

    url: str
    origin: str
    wait_for: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    html: bytes | None = None
    """The page's HTML, when it is there already and only its scripts are to be run."""
    picture: Literal["window", "whole"] | None = None
    """A picture of what the window shows, or of the whole page."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of a visit."""

    url: str
    status: int
    headers: Mapping[str, str]
    html: str
    picture: bytes | None = None
    """PNG, when it was asked for."""


class Visit:
    """A page in a context of its own. `deadline` is on the loop's clock; enforcing it is up to the caller."""

    def __init__(self, context: BrowserContext, held: Pass, ask: Ask, limit: int, deadline: float) -> None:
        self._context = context
        self._held = held
        self._ask = ask
        self._limit = limit
        self._deadline = deadline
        self._traffic = Traffic()
        self._crashed = False
        self._clock = asyncio.get_running_loop().time

    async def see(self) -> Seen:
        """Open the page, wait until it has settled, and read it. `Crashed` when the browser or the page dies on the way."""
        page = await self._context.new_page()
        self._context.on("page", _close)
        work = asyncio.ensure_future(self._work(page))

        def crashed(_: Page) -> None:
            # What waits for an answer of a dead page would wait for ever.
            self._crashed = True
            work.cancel()

        page.on("crash", crashed)
        try:
            return await work
        except asyncio.CancelledError:
            if self._crashed and not being_cancelled():
                raise Crashed from None
            raise

    async def _work(self, page: Page) -> Seen:
        session = await self._context.new_cdp_session(page)
        frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        await self._prepare(page, session, frame)
        response = await self._go(page)
        if self._ask.wait_for is not None:
            await self._await_named(page, self._ask.wait_for)
        world = World(session, frame)
        await self._settle(world)
        seen = self._seen(await self._read(world), response)
        return replace(seen, picture=await self._shot(session, world)) if self._ask.picture else seen

    async def _shot(self, session: CDPSession, world: World) -> bytes:
        left = self._deadline - self._clock()
        return await screenshot.take(session, world, whole=self._ask.picture == "whole", seconds=left / 2)

    async def _prepare(self, page: Page, session: CDPSession, frame: str) -> None:
        ask = self._ask
        if ask.cookies:
            await self._context.add_cookies(
                [{"name": name, "value": value, "url": ask.origin} for name, value in ask.cookies.items()]
            )
        page.on("request", self._began)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)
        await Requests(session, frame, ask.origin, ask.headers, ask.html, self._held, ask.picture is not None).watch()

    def _began(self, request: Request) -> None:
        kind = request.resource_type
        if kind == "document" and request.frame.parent_frame is not None:
            return
        self._traffic.began(request, kind, f"{request.method} {request.url}", self._clock())

    def _ended(self, request: Request) -> None:
        self._traffic.ended(request)

    async def _go(self, page: Page) -> Response | None:
        try:
            return await page.goto(self._ask.url, wait_until="commit", timeout=0)
        except Error as error:
            raise failed_navigation(error, self._held.failures) from None

    async def _await_named(self, page: Page, selector: str) -> None:
        """Wait for the selector to be there: without style sheets nothing can be said about being visible."""
        left = self._deadline - self._clock()
        try:
            await page.wait_for_selector(f"css={selector}", state="attached", timeout=max(1.0, left * 900))
        except Error as error:
            if error.name == "TimeoutError":
                raise FetchTimeout(f"The page did not show `{selector}` in time.") from None
            if "selector" in error.message and "closed" not in error.message:
                raise RenderError(
                    f"`{selector}` is not a CSS selector.", suggestions=("Correct `wait_for`.",)
                ) from None
            raise

    async def _settle(self, world: World) -> None:
        settling = Settling(self._clock(), self._traffic, named_content=self._ask.wait_for is not None)
        # A part of the time is kept back for reading the page.
        last = self._clock() + (self._deadline - self._clock()) * 0.85
        length, stage = 0, "streaming"
        while (began := self._clock()) < last:
            try:
                length, stage = await world.length()
            except Moved:
                settling = Settling(self._clock(), self._traffic)
            else:
                # A script that hangs in the head must not cost a page that is all there.
                late = stage == "loading" and began - settling.began > ENDLESS
                if settling.settled(self._clock(), length) and (stage == "ready" or late):
                    return
            looked = self._clock() - began
            # Looking takes its time on a huge or busy page: then never more than a fifth of the page's own.
            await asyncio.sleep(LOOK_EVERY if looked < LOOK_EVERY else 4 * looked)
        if stage == "streaming":
            raise FetchTimeout("The page did not end in time.")

    async def _read(self, world: World) -> dict[str, Any]:
        while True:
            try:
                return await world.read(self._limit)
            except Moved:
                await asyncio.sleep(LOOK_EVERY)

    def _seen(self, read: dict[str, Any], response: Response | None) -> Seen:
        if read["url"].startswith("chrome-error:"):
            raise failed_navigation(None, self._held.failures)
        if read["type"] not in _WRAPPED:
            refuse_other(read["type"])
        if read["size"] > self._limit:
            raise TooLarge("The rendered page is larger than the limit.")
        status = read["status"] or (response.status if response else 200)
        # The headers are those of the first document; a page that went on by itself has others, which nobody needs.
        return Seen(read["url"], status, response.headers if response else {}, read["html"])


async def _close(popup: Page) -> None:
    with suppress(Error):
        await popup.close()
