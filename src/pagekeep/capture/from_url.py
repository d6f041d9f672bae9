"""A page from its address: fetched, extracted, and rendered once when it must be."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal

from pagekeep.config import Settings
from pagekeep.errors import FetchHttpError, PagekeepError, RenderError
from pagekeep.model import Fetched, Options, Page, PageWarning

if TYPE_CHECKING:
    from pagekeep.capture.screenshots import Camera
    from pagekeep.fetch.browser import Browser
    from pagekeep.fetch.client import Client
    from pagekeep.fetch.remote_reader import RemoteReader
    from pagekeep.rules import Rulebook

RenderMode = Literal["auto", "force", "never"]
Progress = Callable[[str], None]
ReadPage = Callable[[Fetched, Options], Awaitable[Page]]

READER_TYPE: Final = "text/x-reader"
"""The content type under which the answer of a remote reader is kept."""
_TEXT_TYPES: Final = frozenset({"text/plain", "text/markdown", "text/x-markdown"})
"""Content types kept as they are."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to capture, and how to ask for it."""

    url: str
    render: RenderMode | None = None
    """`None` leaves it to the settings, and these, where they say `auto`, to the rules."""
    wait_for: str | None = None
    """CSS selector that must be there before a rendered page is read."""
    render_timeout: float | None = None
    """Seconds for the browser; `None` leaves it to a rule or the settings."""
    timeout: float | None = None
    """Seconds for fetching the page; `None` leaves it to the settings."""
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Captured:
    """A page and what it was made from."""

    page: Page
    fetched: Fetched


class Retrieval:
    """One HTTP client and, once it is needed, one browser: for many pages, as an async context manager.

    Pages are read by the rules given, else by those in force for the settings; by `read` where one is given, else here.
    """

    def __init__(self, settings: Settings, rules: Rulebook | None = None, *, read: ReadPage | None = None) -> None:
        self.settings = settings
        self._rules = rules
        self._read = read
        self._stack = AsyncExitStack()
        self._client: Client | None = None
        self._browser: Browser | None = None
        self._camera: Camera | None = None
        self._reader: RemoteReader | None = None
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Retrieval:
        from pagekeep.fetch.client import Client

        self._client = await self._stack.enter_async_context(Client(self.settings))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    @property
    def rules(self) -> Rulebook:
        """The rules given, else those in force now."""
        if self._rules is not None:
            return self._rules
        from pagekeep.capture.active_rules import in_force

        return in_force(self.settings)

    async def read(self, fetched: Fetched, options: Options) -> Page:
        """The page in what was fetched."""
        if self._read is not None:
            return await self._read(fetched, options)
        return read_page(fetched, options, self.rules)

    @property
    def client(self) -> Client:
        """The client, while the retrieval is open."""
        if self._client is None:
            raise RuntimeError("Retrieval is used outside its `async with`.")
        return self._client

    async def browser(self) -> Browser:
        """The browser, started at the first call and shared by all that follow."""
        from pagekeep.fetch.browser import Browser

        async with self._starting:
            if self._browser is None:
                self._browser = await self._stack.enter_async_context(Browser(self.settings, self.client.guard))
            return self._browser

    async def camera(self) -> Camera:
        """The browser for pages that are to be looked at; beside the other, which reads them sooner without their looks."""
        from pagekeep.capture.screenshots import Camera
        from pagekeep.fetch.browser.browser import MAX_VISUAL_PAGES, Browser

        async with self._starting:
            if self._camera is None:
                browser = await self._stack.enter_async_context(Browser(self.settings, self.client.guard, visual=True))
                self._camera = Camera(browser, MAX_VISUAL_PAGES, shared=self.settings.shared)
            return self._camera

    async def reader(self) -> RemoteReader:
        """The remote reader that is configured; `ParseError` when none is."""
        from pagekeep.fetch.remote_reader import RemoteReader

        async with self._starting:
            if self._reader is None:
                self._reader = await self._stack.enter_async_context(RemoteReader(self.settings))
            return self._reader


def _silent(_stage: str) -> None:
    """Nobody watches."""


async def capture(
    request: Request, retrieval: Retrieval, *, options: Options | None = None, progress: Progress = _silent
) -> Captured:
    """The page at an address.

    With `auto`, a page that says it needs a browser gets one, once; when rendering fails the static page is used, and the
    trace says why. With `force` a failure to render is the caller's. Where the caller and the settings leave it open, a
    rule for the host decides before anything is fetched; a rule that wants a browser where there is none is no failure.
    """
    options = options or Options(max_bytes=retrieval.settings.max_bytes)
    mode, request, by_rule = _decided(request, retrieval)
    if mode == "force" and not by_rule:
        return await _read(await _render(request, retrieval, progress), retrieval, options, progress)
    if mode == "force":
        return await _rendered_if_possible(request, retrieval, options, progress)
    captured = await _read(await _fetch(request, retrieval, options, progress), retrieval, options, progress)
    need = captured.page.need_render
    if mode == "never" or need is None:
        return captured
    return await _rendered_or_static(
        captured, _told(request, need.wait_for, need.timeout), retrieval, options, progress
    )


def _decided(request: Request, retrieval: Retrieval) -> tuple[RenderMode, Request, bool]:
    """Whether to render, with what to wait for, and whether it was a rule that decided."""
    rule = retrieval.rules.rendering(request.url)
    if rule is not None:
        request = _told(request, rule.wait_for, rule.timeout)
    if request.render is not None:
        return request.render, request, False
    if retrieval.settings.render != "auto" or rule is None:
        return retrieval.settings.render, request, False
    return rule.mode, request, True


def _told(request: Request, wait_for: str | None, milliseconds: int | None) -> Request:
    """The request with what a rule says where the caller said nothing."""
    seconds = milliseconds / 1000 if milliseconds else None
    return replace(
        request,
        wait_for=request.wait_for or wait_for,
        render_timeout=request.render_timeout or seconds,
    )


async def _rendered_if_possible(
    request: Request, retrieval: Retrieval, options: Options, progress: Progress
) -> Captured:
    """The page from the browser; from the server when the browser is missing or fails."""
    try:
        return await _read(await _render(request, retrieval, progress), retrieval, options, progress)
    except RenderError as error:
        static = await _read(await _fetch(request, retrieval, options, progress), retrieval, options, progress)
        return replace(static, page=_unrendered(static.page, error))


async def _fetch(request: Request, retrieval: Retrieval, options: Options, progress: Progress) -> Fetched:
    progress("Fetching")
    try:
        return await retrieval.client.fetch(
            request.url, headers=request.headers, cookies=request.cookies, deadline=request.timeout
        )
    except FetchHttpError as error:
        raise await _with_next_step(error, options, retrieval) from None


async def _with_next_step(error: FetchHttpError, options: Options, retrieval: Retrieval) -> FetchHttpError:
    """The same error, with the suggestion that fits the wall that came with it."""
    if error.page is None or not error.page.body:
        return error
    try:
        trap = (await retrieval.read(error.page, options)).caught
    except PagekeepError:
        return error
    if trap is None:
        return error
    told = FetchHttpError(
        f"{error.message} {trap.reason}.", status=error.status, suggestions=(trap.suggestion, *error.suggestions)
    )
    told.page = error.page
    return told


async def _render(request: Request, retrieval: Retrieval, progress: Progress) -> Fetched:
    progress("Starting the browser")
    browser = await retrieval.browser()
    progress("Rendering")
    return await browser.render(
        request.url,
        wait_for=request.wait_for,
        timeout=request.render_timeout,
        headers=request.headers,
        cookies=request.cookies,
    )


async def _rendered_or_static(
    static: Captured, request: Request, retrieval: Retrieval, options: Options, progress: Progress
) -> Captured:
    """The better of the two; the static one when the browser is missing or fails."""
    try:
        rendered = await _read(await _render(request, retrieval, progress), retrieval, options, progress)
    except PagekeepError as error:
        return replace(static, page=_unrendered(static.page, error))
    return rendered if _is_better(rendered.page, static.page) else static


def _is_better(rendered: Page, static: Page) -> bool:
    if (rendered.strategy == "bookmark") != (static.strategy == "bookmark"):
        return static.strategy == "bookmark"
    return rendered.word_count >= static.word_count


def _unrendered(page: Page, error: PagekeepError) -> Page:
    text = f"not rendered: {error.message} {' '.join(error.suggestions)}"
    return page.with_warnings(PageWarning("not_rendered", text.strip()))


async def _read(fetched: Fetched, retrieval: Retrieval, options: Options, progress: Progress) -> Captured:
    progress("Extracting")
    return Captured(await retrieval.read(fetched, options), fetched)


def is_text(fetched: Fetched) -> bool:
    """Whether it is text that is no HTML."""
    return fetched.content_type in _TEXT_TYPES


def read_page(fetched: Fetched, options: Options, rules: Rulebook) -> Page:
    """The page in what was fetched, now or long ago; text that is no HTML is kept as it is."""
    from pagekeep.pipeline import extract

    options = replace(options, encoding=fetched.encoding, status=fetched.status, rendered=fetched.rendered)
    if fetched.content_type == READER_TYPE:
        from pagekeep.capture.remote_page import page_of_answer

        return page_of_answer(fetched, options)
    if is_text(fetched):
        from pagekeep.capture.plain_text import keep_text

        return keep_text(fetched.body, fetched.final_url or None, options)
    return extract(fetched.body, fetched.final_url or None, rules=rules, options=options)
