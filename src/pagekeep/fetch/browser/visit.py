"""Render one page: open it in a new context, wait until it settles, read its HTML, and make copies of it."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from playwright.async_api import Error

from pagekeep.errors import FetchTimeout, RenderError, TooLarge
from pagekeep.fetch.browser.chromium import HEIGHT, WIDTH
from pagekeep.fetch.browser.engine import BrowserCrashed, is_being_cancelled, navigation_error
from pagekeep.fetch.browser.proxy import ProxySession
from pagekeep.fetch.browser.requests import MAX_GROWTH_SECONDS, Requests, Settling, Traffic
from pagekeep.fetch.headers import refuse_non_page
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
            made = await take_copies(session, world, self._request.copies, remaining / 2)
            result = replace(result, copies=made)
        return result

    async def _take_screenshot(self, session: CDPSession, world: IsolatedWorld) -> bytes:
        remaining = self._deadline - self._clock()
        whole = self._request.screenshot == "whole"
        return await take_screenshot(session, world, whole=whole, seconds=remaining / 2)

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


async def take_copies(
    session: CDPSession, world: IsolatedWorld, kinds: Collection[CopyKind], seconds: float
) -> dict[CopyKind, bytes]:
    """Return the copies: PNG, PDF, and MHTML for `html`. `seconds` limits the wait for pictures."""
    clock = asyncio.get_running_loop().time
    until = clock() + seconds / 2
    await _scroll_through(session, world, until)
    await wait_until_loaded(world, min(MAX_LOAD_SECONDS, max(0.0, until - clock())))
    copies: dict[CopyKind, bytes] = {}
    if "screenshot" in kinds:
        copies["screenshot"] = await take_screenshot(session, world, whole=True, seconds=0.0)
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


MAX_HEIGHT: Final = 20_000
"""Pixels; 26 megapixels in total."""
MAX_BYTES: Final = 20_000_000
"""Size of the PNG."""
MAX_LOAD_SECONDS: Final = 5.0
"""Seconds to wait for images, fonts and style sheets."""
_CHECK_SECONDS: Final = 0.1
"""Time between two checks whether everything is loaded."""


async def take_screenshot(session: CDPSession, world: IsolatedWorld, *, whole: bool, seconds: float) -> bytes:
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


_HERE = Path(__file__).parent
TEXT_LENGTH: Final = (_HERE / "text_length.js").read_text("utf-8")
READ_PAGE: Final = (_HERE / "read_page.js").read_text("utf-8")
IS_LOADING: Final = (_HERE / "is_loading.js").read_text("utf-8")

# Parts of Chromium's errors when the document is gone.
_NAVIGATED: Final = ("find context", "context was destroyed", "navigated", "No frame", "Frame ")


class Navigated(Exception):
    """The page loaded another document while a script ran."""


class IsolatedWorld:
    """Runs scripts in an isolated world of the page's main frame, whatever document it shows."""

    def __init__(self, session: CDPSession, frame: str) -> None:
        self._session = session
        self._frame = frame
        self._context: int | None = None

    async def text_length(self) -> tuple[int, str]:
        """Return the characters of text in the page, and the state of the document: `streaming`, `loading` or `ready`."""
        length, stage = await self._run(TEXT_LENGTH)
        return int(length), str(stage)

    async def read_page(self, limit: int) -> dict[str, Any]:
        """Return the page as HTML of at most `limit` characters, with its URL, type, size and status."""
        return dict(await self._run(f"({READ_PAGE})({json.dumps(limit)})"))

    async def is_loading(self) -> bool:
        """Return whether the page still waits for style sheets, fonts or images."""
        return bool(await self._run(IS_LOADING))

    async def scroll_to(self, y: int) -> None:
        """Scroll the page."""
        await self._run(f"scrollTo(0, {int(y)})")

    async def _run(self, script: str) -> Any:
        try:
            if self._context is None:
                self._context = await self._enter()
            answer = await self._session.send(
                "Runtime.evaluate", {"expression": script, "contextId": self._context, "returnByValue": True}
            )
        except Error as error:
            if not any(part in error.message for part in _NAVIGATED):
                raise
            self._context = None
            raise Navigated from None
        if "exceptionDetails" in answer:
            raise RenderError("The browser could not return the content of the page.")
        return answer["result"].get("value")

    async def _enter(self) -> int:
        world = await self._session.send(
            "Page.createIsolatedWorld", {"frameId": self._frame, "worldName": "pagekeep", "grantUniveralAccess": False}
        )
        return int(world["executionContextId"])
