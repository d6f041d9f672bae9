"""Render one page: open it in a new context, wait until it settles, read its HTML."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from playwright.async_api import Error

from pagekeep.errors import FetchTimeout, RenderError, TooLarge
from pagekeep.fetch.browser import copies, screenshot
from pagekeep.fetch.browser.engine import is_being_cancelled
from pagekeep.fetch.browser.isolated_world import IsolatedWorld, Navigated
from pagekeep.fetch.browser.playwright_errors import BrowserCrashed, navigation_error
from pagekeep.fetch.browser.proxy import ProxySession
from pagekeep.fetch.browser.requests import Requests
from pagekeep.fetch.browser.settle import MAX_GROWTH_SECONDS, Settling, Traffic
from pagekeep.fetch.content_type import refuse_non_page
from pagekeep.model.archive import CopyKind

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page, Request, Response

CHECK_SECONDS: Final = 0.04
"""Seconds between two checks of the text."""
READ_SHARE: Final = 0.15
"""Share of the time that is kept for reading the page."""
MAX_CHECK_SHARE: Final = 0.2
"""Share of the time that checks may take on a huge or busy page."""
_HTML_TYPES: Final = frozenset(
    ["text/html", "application/xhtml+xml", "application/xml", "text/xml", "application/json"]
)


@dataclass(frozen=True, slots=True)
class RenderRequest:
    """The page to render, and how."""

    url: str
    origin: str
    wait_for: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    html: bytes | None = None
    """The page's HTML if it is known already and only its scripts must run."""
    screenshot: Literal["window", "whole"] | None = None
    """Whether to take a screenshot of what the window shows, or of the whole page."""
    copies: tuple[CopyKind, ...] = ()
    """Which copies to make of the page."""


@dataclass(frozen=True, slots=True)
class RenderResult:
    """A rendered page."""

    url: str
    status: int
    headers: Mapping[str, str]
    html: str
    screenshot: bytes | None = None
    """PNG, if requested."""
    copies: Mapping[CopyKind, bytes] = field(default_factory=dict)


class Visit:
    """Renders one page in its own context. `deadline` is on the loop's clock; the caller enforces it."""

    def __init__(
        self, context: BrowserContext, proxy_session: ProxySession, request: RenderRequest, limit: int, deadline: float
    ) -> None:
        self._context = context
        self._proxy_session = proxy_session
        self._request = request
        self._limit = limit
        self._deadline = deadline
        self._traffic = Traffic()
        self._crashed = False
        self._clock = asyncio.get_running_loop().time

    async def render(self) -> RenderResult:
        """Open the page, wait until it has settled, and read it; raise `BrowserCrashed` when browser or page die."""
        page = await self._context.new_page()
        self._context.on("page", _close)
        work = asyncio.ensure_future(self._render(page))

        def crashed(_: Page) -> None:
            # A call that waits for a dead page would wait forever.
            self._crashed = True
            work.cancel()

        page.on("crash", crashed)
        try:
            return await work
        except asyncio.CancelledError:
            if self._crashed and not is_being_cancelled():
                raise BrowserCrashed from None
            raise

    async def _render(self, page: Page) -> RenderResult:
        session = await self._context.new_cdp_session(page)
        frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        await self._prepare(page, session, frame)
        response = await self._open(page)
        if self._request.wait_for is not None:
            await self._wait_for(page, self._request.wait_for)
        world = IsolatedWorld(session, frame)
        await self._settle(world)
        result = self._make_result(await self._read(world), response)
        if self._request.screenshot:
            result = replace(result, screenshot=await self._take_screenshot(session, world))
        if self._request.copies:
            remaining = self._deadline - self._clock()
            made = await copies.take(session, world, self._request.copies, remaining / 2)
            result = replace(result, copies=made)
        return result

    async def _take_screenshot(self, session: CDPSession, world: IsolatedWorld) -> bytes:
        remaining = self._deadline - self._clock()
        whole = self._request.screenshot == "whole"
        return await screenshot.take(session, world, whole=whole, seconds=remaining / 2)

    async def _prepare(self, page: Page, session: CDPSession, frame: str) -> None:
        request = self._request
        if request.cookies:
            await self._context.add_cookies(
                [{"name": name, "value": value, "url": request.origin} for name, value in request.cookies.items()]
            )
        page.on("request", self._add_request)
        page.on("requestfinished", self._remove_request)
        page.on("requestfailed", self._remove_request)
        requests = Requests(
            session,
            frame,
            request.origin,
            request.headers,
            request.html,
            self._proxy_session,
            visual=request.screenshot is not None or bool(request.copies),
        )
        await requests.watch()

    def _add_request(self, request: Request) -> None:
        kind = request.resource_type
        if kind == "document" and request.frame.parent_frame is not None:
            return
        self._traffic.add(request, kind, f"{request.method} {request.url}", self._clock())

    def _remove_request(self, request: Request) -> None:
        # A method of this class, as Playwright sets attributes on the owner of a listener, and `Traffic` has slots.
        self._traffic.remove(request)

    async def _open(self, page: Page) -> Response | None:
        try:
            return await page.goto(self._request.url, wait_until="commit", timeout=0)
        except Error as error:
            raise navigation_error(error, self._proxy_session.failures) from None

    async def _wait_for(self, page: Page, selector: str) -> None:
        """Wait for an element in the tree; without style sheets it is unknown whether it is visible."""
        remaining = self._deadline - self._clock()
        try:
            await page.wait_for_selector(f"css={selector}", state="attached", timeout=max(1.0, remaining * 900))
        except Error as error:
            if error.name == "TimeoutError":
                raise FetchTimeout(f"No element matched `{selector}` in time.") from None
            if "selector" in error.message and "closed" not in error.message:
                raise RenderError(
                    f"`{selector}` is not a CSS selector.", suggestions=("Fix the selector to wait for (`wait_for`).",)
                ) from None
            raise

    async def _settle(self, world: IsolatedWorld) -> None:
        settling = Settling(self._clock(), self._traffic, selector_matched=self._request.wait_for is not None)
        last = self._clock() + (self._deadline - self._clock()) * (1 - READ_SHARE)
        length, stage = 0, "streaming"
        while (start := self._clock()) < last:
            try:
                length, stage = await world.text_length()
            except Navigated:
                settling = Settling(self._clock(), self._traffic)
            else:
                # A script that hangs in the head must not prevent reading a complete page.
                late = stage == "loading" and start - settling.start > MAX_GROWTH_SECONDS
                if settling.is_settled(self._clock(), length) and (stage == "ready" or late):
                    return
            taken = self._clock() - start
            pause = taken * (1 / MAX_CHECK_SHARE - 1)
            await asyncio.sleep(CHECK_SECONDS if taken < CHECK_SECONDS else pause)
        if stage == "streaming":
            raise FetchTimeout("The page was not loaded completely in time.")

    async def _read(self, world: IsolatedWorld) -> dict[str, Any]:
        while True:
            try:
                return await world.read_page(self._limit)
            except Navigated:
                await asyncio.sleep(CHECK_SECONDS)

    def _make_result(self, read: dict[str, Any], response: Response | None) -> RenderResult:
        if read["url"].startswith("chrome-error:"):
            raise navigation_error(None, self._proxy_session.failures)
        if read["type"] not in _HTML_TYPES:
            refuse_non_page(read["type"])
        if read["size"] > self._limit:
            raise TooLarge(f"The rendered page is larger than the limit of {self._limit / 1e6:g} MB.")
        status = read["status"] or (response.status if response else 200)
        # These are the headers of the first document; a page that navigated by itself has others, which are not needed.
        return RenderResult(read["url"], status, response.headers if response else {}, read["html"])


async def _close(popup: Page) -> None:
    with suppress(Error):
        await popup.close()
