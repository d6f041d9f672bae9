"""The browser: started when first needed, reused for many pages, replaced before it grows old, survived when it dies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pagekeep.config import Settings
from pagekeep.errors import FetchTimeout, RenderError
from pagekeep.fetch.browser import engine as engines
from pagekeep.fetch.browser.engine import Engine, within
from pagekeep.fetch.browser.flags import HEIGHT, WIDTH
from pagekeep.fetch.browser.playwright_errors import Crashed, translated
from pagekeep.fetch.browser.proxy import Proxy
from pagekeep.fetch.error_mapping import http_error
from pagekeep.fetch.guard import Guard
from pagekeep.fetch.headers import checked, checked_cookies
from pagekeep.fetch.urls import split_url
from pagekeep.model import Fetched

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, ViewportSize

    from pagekeep.fetch.browser.visit import Ask, Seen

AT_ONCE: Final = 4
"""Pages open at the same time; each takes about 100 MB."""
SEEN_AT_ONCE: Final = 2
"""Pages that are to be looked at take several times as much."""
TRIES: Final = 2
CLOSE_SECONDS: Final = 3.0
"""A context that takes longer to close is stuck, and the browser with it."""

_WINDOW: Final[ViewportSize] = {"width": WIDTH, "height": HEIGHT}
_TALL_WINDOW: Final[ViewportSize] = {"width": WIDTH, "height": 1600}
"""For reading: what is loaded on being seen is seen."""


class Pictured(NamedTuple):
    """A page and what it looks like, as PNG."""

    page: Fetched
    picture: bytes


class Browser:
    """Renders pages. One for the whole program, as an async context manager.

    One that is `seen` loads what pages look like and pictures them; others read them sooner without.
    """

    def __init__(self, settings: Settings, guard: Guard, *, seen: bool = False) -> None:
        self._settings = settings
        self._is_seen = seen
        self._guard = guard
        self._proxy = Proxy(guard)
        self._engines: list[Engine] = []
        """All that are running; the last one takes new pages."""
        self._ending: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Lock()
        self._slots = asyncio.Semaphore(SEEN_AT_ONCE if seen else AT_ONCE)
        self._closed = False

    async def __aenter__(self) -> Browser:
        await self._proxy.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the browser and everything open in it, for good."""
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
        """The page as its scripts leave it. With `html`, that stands in for the server's answer.

        `timeout` covers opening, settling and reading, not the wait for a free place or for the browser to start. When
        the browser crashes, the page is tried once more. Raises only what stands under `PagekeepError`; a
        `FetchHttpError` carries the page that came with it as `page`.
        """
        engines.require_playwright()
        from pagekeep.fetch.browser.visit import Ask

        origin = self._guard.check_url(url).origin
        ask = Ask(url.strip(), origin, wait_for, checked(headers), checked_cookies(cookies), html)
        return (await self._page(ask, user_agent, timeout))[0]

    async def picture(
        self,
        url: str,
        part: Literal["window", "whole"],
        *,
        wait_for: str | None = None,
        timeout: float | None = None,
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
        html: bytes | None = None,
    ) -> Pictured:
        """The same, with a picture of what the window shows or of the whole page, down to a bound."""
        engines.require_playwright()
        from pagekeep.fetch.browser.visit import Ask

        origin = self._guard.check_url(url).origin
        ask = Ask(url.strip(), origin, wait_for, checked(headers), checked_cookies(cookies), html, part)
        page, picture = await self._page(ask, None, timeout)
        if picture is None:
            raise RenderError("The browser gave no picture of the page.")
        return Pictured(page, picture)

    async def _page(self, ask: Ask, user_agent: str | None, timeout: float | None) -> tuple[Fetched, bytes | None]:
        began = perf_counter()
        async with self._slots:
            seen = await self._visit(ask, user_agent, timeout or self._settings.render_timeout)
        took = perf_counter() - began
        page = Fetched(
            url=ask.url,
            final_url=seen.url,
            status=seen.status,
            headers=seen.headers,
            body=seen.html.encode("utf-8", "replace"),
            encoding="utf-8",
            rendered=True,
            seconds={"render": took, "total": took},
        )
        if page.status >= 400:
            error = http_error(split_url(ask.url).host.name, page.status)
            error.page = page
            raise error
        return page, seen.picture

    async def _visit(self, ask: Ask, user_agent: str | None, timeout: float) -> Seen:
        crashes: list[Crashed] = []
        while len(crashes) < TRIES:
            try:
                async with self._engine() as engine:
                    return await self._see(engine, ask, user_agent, timeout)
            except Crashed as crash:
                crashes.append(crash)
        raise RenderError(
            crashes[-1].words,
            suggestions=("Where Pagekeep runs, `pagekeep doctor` tells whether something is missing.",),
        )

    async def _see(self, engine: Engine, ask: Ask, user_agent: str | None, timeout: float) -> Seen:
        from pagekeep.fetch.browser.visit import Visit

        deadline = asyncio.get_running_loop().time() + timeout
        held = self._proxy.issue()

        async def see() -> Seen:
            async with self._context(engine, user_agent) as context:
                return await Visit(context, held, ask, self._settings.max_bytes, deadline).see()

        try:
            async with asyncio.timeout_at(deadline):
                return await engine.run(see())
        except TimeoutError:
            raise FetchTimeout(f"The page was not ready after {timeout:g} seconds in the browser.") from None
        finally:
            await self._proxy.revoke(held)

    @asynccontextmanager
    async def _context(self, engine: Engine, user_agent: str | None) -> AsyncIterator[BrowserContext]:
        """A fresh context: no cookie, cache or storage is shared with any other page."""
        with translated(engine):
            context = await self._new_context(engine, user_agent)
            try:
                yield context
            finally:
                if engine.usable and not await within(CLOSE_SECONDS, context.close()):
                    engine.kill()

    async def _new_context(self, engine: Engine, user_agent: str | None) -> BrowserContext:
        try:
            return await engine.browser.new_context(
                user_agent=user_agent or self._user_agent(engine),
                viewport=_WINDOW if self._is_seen else _TALL_WINDOW,
                reduced_motion="reduce",
                accept_downloads=False,
                service_workers="block",
                proxy={"server": self._proxy.address, "bypass": "<-loopback>"},
            )
        except asyncio.CancelledError:
            # A healthy browser makes one in milliseconds; and this one may now hold a context that nobody closes.
            engine.retire()
            raise

    def _user_agent(self, engine: Engine) -> str:
        """The owner's, behind Chromium's own where it names no browser: pages are made for what they are told."""
        ours = self._settings.user_agent
        return ours if ours.startswith("Mozilla/") else f"{engine.user_agent} {ours}"

    @asynccontextmanager
    async def _engine(self) -> AsyncIterator[Engine]:
        """A running engine. Whoever leaves a dead or worn one last has it closed."""
        engine = await self._take_engine()
        try:
            yield engine
        finally:
            engine.visiting -= 1
            self._end_if_worn(engine)

    async def _take_engine(self) -> Engine:
        async with self._starting:
            if self._closed:
                raise RenderError("The browser was closed.")
            if self._engines:
                self._end_if_worn(self._engines[-1])
            if not self._engines or self._worn(self._engines[-1]):
                self._engines.append(
                    await engines.start(self._settings.chromium, self._proxy.address, seen=self._is_seen)
                )
            engine = self._engines[-1]
            engine.served += 1
            engine.visiting += 1
            return engine

    def _worn(self, engine: Engine) -> bool:
        return not engine.usable or engine.served >= self._settings.browser_pages

    def _end_if_worn(self, engine: Engine) -> None:
        """Close an engine that takes no more pages and has none open. Nobody waits: one that hangs takes seconds."""
        if engine in self._engines and not engine.visiting and self._worn(engine):
            self._engines.remove(engine)
            task = asyncio.ensure_future(engine.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
