"""The browser: started when first needed, used for many pages, and replaced after a number of pages or a crash."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from pagekeep.config import Settings
from pagekeep.errors import FetchTimeout, RenderError
from pagekeep.fetch.backend import make_http_error
from pagekeep.fetch.browser import engine as engines
from pagekeep.fetch.browser.chromium import HEIGHT, WIDTH
from pagekeep.fetch.browser.engine import BrowserCrashed, Engine, finished_within, map_errors
from pagekeep.fetch.browser.proxy import Proxy
from pagekeep.fetch.guard import Guard
from pagekeep.fetch.headers import check_cookies, check_headers
from pagekeep.fetch.urls import split_url
from pagekeep.model import Fetched

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, ViewportSize

    from pagekeep.fetch.browser.visit import RenderRequest, RenderResult
    from pagekeep.model.archive import CopyKind

MAX_PAGES: Final = 4
"""Pages open at the same time; each needs about 100 MB."""
MAX_VISUAL_PAGES: Final = 2
"""The same for screenshots, which need several times as much."""
MAX_TRIES: Final = 2
"""A page on which the browser crashed is tried once again."""
CLOSE_SECONDS: Final = 3.0
"""A context that takes longer to close is treated as hung, and so is its browser."""

_WINDOW: Final[ViewportSize] = {"width": WIDTH, "height": HEIGHT}
_TALL_WINDOW: Final[ViewportSize] = {"width": WIDTH, "height": 1600}
"""Tall, so that lazy-loaded content is in view and loads."""


class PageScreenshot(NamedTuple):
    """A page and its screenshot."""

    page: Fetched
    png: bytes


class PageCopies(NamedTuple):
    """A page and its copies: PNG, PDF, and MHTML for `html`."""

    page: Fetched
    copies: Mapping[CopyKind, bytes]


class Browser:
    """Renders pages; use one for the whole program, with `async with`.

    A `visual` one loads images and styles and takes screenshots; others read pages faster without them.
    """

    def __init__(self, settings: Settings, guard: Guard, *, visual: bool = False) -> None:
        self._settings = settings
        self._is_visual = visual
        self._guard = guard
        self._proxy = Proxy(guard)
        self._engines: list[Engine] = []
        """All running engines; the last one gets new pages."""
        self._ending: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Lock()
        self._slots = asyncio.Semaphore(MAX_VISUAL_PAGES if visual else MAX_PAGES)
        self._closed = False

    async def __aenter__(self) -> Browser:
        await self._proxy.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the browser and everything open in it."""
        self._closed = True
        while self._engines:
            await self._engines.pop().close()
        await asyncio.gather(*self._ending)
        await self._proxy.close()

    async def render(
        self,
        url: str,
        *,
        wait_for: str | None = None,
        timeout: float | None = None,
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
        user_agent: str | None = None,
        html: bytes | None = None,
    ) -> Fetched:
        """Return the page after its scripts ran. With `html`, the page itself is not fetched from the server.

        `timeout` covers opening, settling and reading, not the wait for a free slot or for the browser to start. When
        the browser crashes, the page is tried once again. Raises only `PagekeepError`; a `FetchHttpError` has the page
        that came with it as `page`.
        """
        headers, cookies = check_headers(headers), check_cookies(cookies)
        more: dict[str, Any] = {"wait_for": wait_for, "headers": headers, "cookies": cookies, "html": html}
        return (await self._render(url, timeout, user_agent, **more))[0]

    async def screenshot(
        self,
        url: str,
        part: Literal["window", "whole"],
        *,
        wait_for: str | None = None,
        timeout: float | None = None,
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
        html: bytes | None = None,
    ) -> PageScreenshot:
        """Render a page and take a screenshot of what the window shows or of the whole page, up to a maximum height."""
        headers, cookies = check_headers(headers), check_cookies(cookies)
        more: dict[str, Any] = {"wait_for": wait_for, "headers": headers, "cookies": cookies, "html": html}
        page, result = await self._render(url, timeout, **more, screenshot=part)
        if result.screenshot is None:
            raise RenderError("The browser returned no screenshot of the page.")
        return PageScreenshot(page, result.screenshot)

    async def copy(
        self, url: str, kinds: tuple[CopyKind, ...], *, timeout: float | None = None, html: bytes | None = None
    ) -> PageCopies:
        """Render a page and make copies of it; with `html`, the page itself is not fetched from the server."""
        page, result = await self._render(url, timeout, html=html, copies=kinds)
        return PageCopies(page, result.copies)

    async def _render(
        self, url: str, timeout: float | None, user_agent: str | None = None, **more: Any
    ) -> tuple[Fetched, RenderResult]:
        """Return the page and what the browser made of it; `more` are fields of the request."""
        await engines.require_playwright(self._settings.chromium)
        from pagekeep.fetch.browser.visit import RenderRequest

        request = RenderRequest(url.strip(), self._guard.check_url(url).origin, **more)
        start = perf_counter()
        async with self._slots:
            result = await self._render_with_retry(request, user_agent, timeout or self._settings.render_timeout)
        seconds = perf_counter() - start
        page = Fetched(
            url=request.url,
            final_url=result.url,
            status=result.status,
            headers=result.headers,
            body=result.html.encode("utf-8", "replace"),
            encoding="utf-8",
            rendered=True,
            seconds={"render": seconds, "total": seconds},
        )
        if page.status >= 400:
            error = make_http_error(split_url(request.url).host.name, page.status)
            error.page = page
            raise error
        return page, result

    async def _render_with_retry(self, request: RenderRequest, user_agent: str | None, timeout: float) -> RenderResult:
        crashes: list[BrowserCrashed] = []
        while len(crashes) < MAX_TRIES:
            try:
                async with self._engine() as engine:
                    return await self._visit(engine, request, user_agent, timeout)
            except BrowserCrashed as crash:
                crashes.append(crash)
        raise RenderError(
            crashes[-1].message,
            suggestions=("Run `pagekeep doctor` where Pagekeep is installed to see what is missing.",),
        )

    async def _visit(
        self, engine: Engine, request: RenderRequest, user_agent: str | None, timeout: float
    ) -> RenderResult:
        from pagekeep.fetch.browser.visit import Visit

        deadline = asyncio.get_running_loop().time() + timeout
        proxy_session = self._proxy.open_session()

        async def render() -> RenderResult:
            async with self._context(engine, user_agent) as context:
                return await Visit(context, proxy_session, request, self._settings.max_bytes, deadline).render()

        try:
            async with asyncio.timeout_at(deadline):
                return await engine.run(render())
        except TimeoutError:
            raise FetchTimeout(f"The page was not ready after {timeout:g} seconds in the browser.") from None
        finally:
            await self._proxy.close_session(proxy_session)

    @asynccontextmanager
    async def _context(self, engine: Engine, user_agent: str | None) -> AsyncIterator[BrowserContext]:
        """Open a new context, which shares no cookies, cache or storage with other pages."""
        with map_errors(lambda: engine.usable):
            context = await self._new_context(engine, user_agent)
            try:
                yield context
            finally:
                if engine.usable and not await finished_within(CLOSE_SECONDS, context.close()):
                    engine.kill()

    async def _new_context(self, engine: Engine, user_agent: str | None) -> BrowserContext:
        try:
            return await engine.browser.new_context(
                user_agent=user_agent or self._user_agent(engine),
                viewport=_WINDOW if self._is_visual else _TALL_WINDOW,
                reduced_motion="reduce",
                accept_downloads=False,
                service_workers="block",
                proxy={"server": self._proxy.address, "bypass": "<-loopback>"},
            )
        except asyncio.CancelledError:
            # A healthy browser needs milliseconds for this; and this one may now have a context that is never closed.
            engine.retire()
            raise

    def _user_agent(self, engine: Engine) -> str:
        """Return the configured user agent, after Chromium's own unless it names a browser: pages depend on that."""
        configured = self._settings.user_agent
        return configured if configured.startswith("Mozilla/") else f"{engine.user_agent} {configured}"

    @asynccontextmanager
    async def _engine(self) -> AsyncIterator[Engine]:
        """Use a running engine; one that is dead or worn is closed when its last page is done."""
        engine = await self._take_engine()
        try:
            yield engine
        finally:
            engine.open_pages -= 1
            self._end_if_worn(engine)

    async def _take_engine(self) -> Engine:
        async with self._starting:
            if self._closed:
                raise RenderError("The browser was closed.")
            if self._engines:
                self._end_if_worn(self._engines[-1])
            if not self._engines or self._is_worn(self._engines[-1]):
                self._engines.append(
                    await engines.start(
                        self._settings.chromium,
                        self._proxy.address,
                        sandbox=self._settings.browser_sandbox,
                        visual=self._is_visual,
                    )
                )
            engine = self._engines[-1]
            engine.pages_served += 1
            engine.open_pages += 1
            return engine

    def _is_worn(self, engine: Engine) -> bool:
        return not engine.usable or engine.pages_served >= self._settings.browser_pages

    def _end_if_worn(self, engine: Engine) -> None:
        """Close an engine that takes no more pages and has none open, in the background: one that hangs takes seconds."""
        if engine in self._engines and not engine.open_pages and self._is_worn(engine):
            self._engines.remove(engine)
            task = asyncio.ensure_future(engine.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
