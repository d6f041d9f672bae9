"""Capture a page from its URL: fetch and extract it, and render it in a browser if it needs JavaScript."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from pagekeep.capture.extract import DEFAULT_VIEW, ReadTask, ViewOptions, document_type
from pagekeep.capture.measure import EXTRACTING, FETCHING, RENDERING, STARTING_BROWSER, Capture
from pagekeep.config import Settings
from pagekeep.errors import FetchHttpError, PagekeepError, RenderError, UnsupportedContent
from pagekeep.model import Fetched, Options, Page, PageWarning
from pagekeep.workers import DOCUMENT, PAGE, Limits, Room, Task, run_alone

if TYPE_CHECKING:
    from pagekeep.capture.screenshots import Screenshots
    from pagekeep.fetch.browser import Browser
    from pagekeep.fetch.client import Client
    from pagekeep.fetch.remote_reader import RemoteReader
    from pagekeep.rules import Rulebook

RenderMode = Literal["auto", "force", "never"]
Progress = Callable[[str], None]
ExtractPage = Callable[[Fetched, Options], Awaitable[Page]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """What to capture, and how."""

    url: str
    render: RenderMode | None = None
    """`None` uses the settings; if these say `auto`, the rules decide."""
    wait_for: str | None = None
    """CSS selector that must match before a rendered page is read."""
    render_timeout: float | None = None
    """Seconds for the browser; `None` uses a rule or the settings."""
    timeout: float | None = None
    """Seconds for fetching the page; `None` uses the settings."""
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    etag: str | None = None
    """`ETag` of a stored version: the server need not send the page again if it has not changed."""
    last_modified: str | None = None
    """`Last-Modified` of a stored version."""
    join_pages: bool | None = None
    """Whether to join the pages of an article over several pages; `None` uses the settings."""


class NotModified(Exception):
    """The page has not changed since the version that the request names."""


@dataclass(frozen=True, slots=True)
class Captured:
    """A page and the response it was extracted from."""

    page: Page
    fetched: Fetched


class Retrieval:
    """An HTTP client and, when first needed, a browser; use one for many pages, with `async with`.

    Pages are extracted with `rules`, by default the active rules of the settings. All work on content of others is done in
    the worker `room`; without one, in a thread of this process, or for documents such as PDF in a separate process.
    `observe` wraps the extraction, to measure it. `report` is called after every capture.
    """

    def __init__(
        self,
        settings: Settings,
        rules: Rulebook | None = None,
        *,
        room: Room | None = None,
        observe: Callable[[ExtractPage], ExtractPage] | None = None,
        report: Callable[[Capture], None] | None = None,
    ) -> None:
        self.settings = settings
        self.report = report
        self.own_rules: Final = rules
        self._room = room
        self._extract_page = observe(self._extract_as_usual) if observe else self._extract_as_usual
        self._stack = AsyncExitStack()
        self._client: Client | None = None
        self._browser: Browser | None = None
        self._screenshots: Screenshots | None = None
        self._remote_reader: RemoteReader | None = None
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
        """The rules passed in, else the active rules."""
        if self.own_rules is not None:
            return self.own_rules
        from pagekeep.capture.active_rules import load_active

        return load_active(self.settings)

    async def extract(
        self, fetched: Fetched, options: Options, rules: Rulebook | None = None, *, view: ViewOptions = DEFAULT_VIEW
    ) -> Page:
        """Extract the page from a response and write its document, with other `rules` or as a `view` of it."""
        if rules is None and view == DEFAULT_VIEW:
            return await self._extract_page(fetched, options)
        task = await self.prepare(fetched, options, rules, view)
        return await self.run(task, task.limits)

    async def _extract_as_usual(self, fetched: Fetched, options: Options) -> Page:
        task = await self.prepare(fetched, options)
        return await self.run(task, task.limits)

    async def prepare(
        self, fetched: Fetched, options: Options, rules: Rulebook | None = None, view: ViewOptions = DEFAULT_VIEW
    ) -> ReadTask:
        """Return the task that extracts the page from a response, for another task that needs more of the page."""
        file_type = document_type(fetched)
        if file_type:
            await asyncio.to_thread(file_type.require)
        return ReadTask(fetched, options, self.settings, rules or self.own_rules, view, file_type)

    async def run(self, task: Task[T], limits: Limits = PAGE) -> T:
        """Return the result of a task that works on content of others."""
        if self._room is not None:
            return await self._room.run(task, limits)
        return (
            await asyncio.to_thread(run_alone, task, limits)
            if limits is DOCUMENT
            else await asyncio.to_thread(task.run)
        )

    @property
    def client(self) -> Client:
        """The HTTP client, while the retrieval is open."""
        if self._client is None:
            raise RuntimeError("Retrieval is used outside its `async with`.")
        return self._client

    async def browser(self) -> Browser:
        """Return the browser, which is started at the first call."""
        from pagekeep.fetch.browser import Browser

        async with self._starting:
            if self._browser is None:
                self._browser = await self._stack.enter_async_context(Browser(self.settings, self.client.guard))
            return self._browser

    async def screenshots(self) -> Screenshots:
        """Return the browser for screenshots; it loads images and styles, which the other one does not."""
        from pagekeep.capture.screenshots import Screenshots
        from pagekeep.fetch.browser.browser import MAX_VISUAL_PAGES, Browser

        async with self._starting:
            if self._screenshots is None:
                browser = await self._stack.enter_async_context(Browser(self.settings, self.client.guard, visual=True))
                self._screenshots = Screenshots(browser, MAX_VISUAL_PAGES, shared=self.settings.shared)
            return self._screenshots

    async def remote_reader(self) -> RemoteReader:
        """Return the configured remote reader; raise `ParseError` when there is none."""
        from pagekeep.fetch.remote_reader import RemoteReader

        async with self._starting:
            if self._remote_reader is None:
                self._remote_reader = await self._stack.enter_async_context(RemoteReader(self.settings))
            return self._remote_reader


def ignore_progress(_stage: str) -> None:
    """Do nothing: the progress is not shown."""


async def capture(
    request: Request, retrieval: Retrieval, *, options: Options | None = None, progress: Progress = ignore_progress
) -> Captured:
    """Capture the page at a URL, and the other pages of the same article if there are any.

    Raises `NotModified` when the server says that the stored version is up to date.
    """
    options = options or Options(max_bytes=retrieval.settings.max_bytes)
    captured = await _capture_page(request, retrieval, replace(options, find_pages=1), progress)
    return await join(captured, request, retrieval, options, progress)


async def join(
    captured: Captured,
    request: Request,
    retrieval: Retrieval,
    options: Options,
    progress: Progress,
    *,
    uploaded: bool = False,
) -> Captured:
    """Return the article with all its pages, if it goes on elsewhere; `uploaded` if a user sent the captured page."""
    if captured.page.continuation is None:
        return captured
    from pagekeep.capture.follow_pages import join_pages

    return await join_pages(captured, request, retrieval, options, progress, uploaded=uploaded)


async def _capture_page(request: Request, retrieval: Retrieval, options: Options, progress: Progress) -> Captured:
    """Capture one page.

    With `auto`, a page that needs a browser is rendered once; when that fails the static page is used, with a warning.
    With `force`, a failure to render is raised. When neither the caller nor the settings decide, a rule for the host does,
    before anything is fetched; if such a rule asks for a browser and there is none, the static page is used.
    """
    mode, request, by_rule = _decide_rendering(request, retrieval)
    if mode == "force" and not by_rule:
        return await _extract(await _render(request, retrieval, options, progress), retrieval, options, progress)
    if mode == "force":
        return await _render_or_fetch(request, retrieval, options, progress)
    captured = await _extract(await _fetch(request, retrieval, options, progress), retrieval, options, progress)
    need = captured.page.need_render
    if mode == "never" or need is None:
        return captured
    return await _render_if_better(
        captured, _with_rule(request, need.wait_for, need.timeout), retrieval, options, progress
    )


def _decide_rendering(request: Request, retrieval: Retrieval) -> tuple[RenderMode, Request, bool]:
    """Return whether to render, the request with what to wait for, and whether a rule decided."""
    rule = retrieval.rules.rendering(request.url)
    if rule is not None:
        request = _with_rule(request, rule.wait_for, rule.timeout)
    if request.render is not None:
        return request.render, request, False
    if retrieval.settings.render != "auto" or rule is None:
        return retrieval.settings.render, request, False
    return rule.mode, request, True


def _with_rule(request: Request, wait_for: str | None, milliseconds: int | None) -> Request:
    """Return the request, with the values of a rule where the caller gave none."""
    seconds = milliseconds / 1000 if milliseconds else None
    return replace(
        request,
        wait_for=request.wait_for or wait_for,
        render_timeout=request.render_timeout or seconds,
    )


async def _render_or_fetch(request: Request, retrieval: Retrieval, options: Options, progress: Progress) -> Captured:
    """Render the page; fetch it from the server when the browser is missing or fails."""
    try:
        return await _extract(await _render(request, retrieval, options, progress), retrieval, options, progress)
    except RenderError as error:
        static = await _extract(await _fetch(request, retrieval, options, progress), retrieval, options, progress)
        return replace(static, page=_add_warning(static.page, error))


async def _fetch(request: Request, retrieval: Retrieval, options: Options, progress: Progress) -> Fetched:
    progress(FETCHING)
    try:
        fetched = await retrieval.client.fetch(
            request.url,
            headers=request.headers,
            cookies=request.cookies,
            etag=request.etag,
            last_modified=request.last_modified,
            deadline=request.timeout,
        )
    except FetchHttpError as error:
        raise await _add_suggestion(error, options, retrieval) from None
    if fetched.not_modified:
        raise NotModified
    return _name_chapter(fetched, request.url)


def _name_chapter(fetched: Fetched, url: str) -> Fetched:
    """Return a book with the chapter that its address names (`#/3`), which is not sent to servers."""
    route = url.partition("#")[2]
    if not route.startswith("/") or "#" in fetched.final_url or document_type(fetched) is None:
        return fetched
    return replace(fetched, final_url=f"{fetched.final_url}#{route}")


async def _add_suggestion(error: FetchHttpError, options: Options, retrieval: Retrieval) -> FetchHttpError:
    """Return the error with the suggestion that fits the page that came with it, such as a login wall."""
    if error.page is None or not error.page.body:
        return error
    try:
        caught = (await retrieval.extract(error.page, options)).caught
    except PagekeepError:
        return error
    if caught is None:
        return error
    detailed = FetchHttpError(
        f"{error.message} {caught.reason}.", status=error.status, suggestions=(caught.suggestion, *error.suggestions)
    )
    detailed.page = error.page
    return detailed


async def _render(request: Request, retrieval: Retrieval, options: Options, progress: Progress) -> Fetched:
    """Return the page as the browser shows it; a document such as a PDF, which it does not show, from its server."""
    progress(STARTING_BROWSER)
    browser = await retrieval.browser()
    progress(RENDERING)
    try:
        return await browser.render(
            request.url,
            wait_for=request.wait_for,
            timeout=request.render_timeout,
            headers=request.headers,
            cookies=request.cookies,
        )
    except UnsupportedContent:
        fetched = await _fetch(request, retrieval, options, progress)
        if document_type(fetched) is None:
            raise
        return fetched


async def _render_if_better(
    static: Captured, request: Request, retrieval: Retrieval, options: Options, progress: Progress
) -> Captured:
    """Render the page and return the better one; the static one when the browser is missing or fails."""
    try:
        rendered = await _extract(await _render(request, retrieval, options, progress), retrieval, options, progress)
    except PagekeepError as error:
        return replace(static, page=_add_warning(static.page, error))
    return rendered if _is_better(rendered.page, static.page) else static


def _is_better(rendered: Page, static: Page) -> bool:
    if (rendered.strategy == "bookmark") != (static.strategy == "bookmark"):
        return static.strategy == "bookmark"
    return rendered.word_count >= static.word_count


def _add_warning(page: Page, error: PagekeepError) -> Page:
    text = f"not rendered: {error.message} {' '.join(error.suggestions)}"
    return page.with_warnings(PageWarning("not_rendered", text.strip()))


async def _extract(fetched: Fetched, retrieval: Retrieval, options: Options, progress: Progress) -> Captured:
    progress(EXTRACTING)
    return Captured(await retrieval.extract(fetched, options), fetched)
