"""A running Chromium and its Playwright driver: start them, kill their processes, and translate their errors."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pagekeep import extras
from pagekeep.errors import (
    BlockedAddress,
    FetchNetworkError,
    FetchTimeout,
    PagekeepError,
    RenderError,
    UnsupportedContent,
)
from pagekeep.fetch.browser import chromium
from pagekeep.fetch.browser.chromium import REMOVED_DEFAULTS, browser_environment, build_flags, may_sandbox

if TYPE_CHECKING:
    from playwright.async_api import Browser, Error, Playwright


START_SECONDS: Final = 20.0
"""Time limit for the driver and Chromium to start."""
CLOSE_SECONDS: Final = 5.0
"""Time for each of them to end before it is killed."""
CLEANUP_SECONDS: Final = 0.5
"""Time for the driver to remove the folders of a Chromium that died; it does not once it is stopping."""

_SANDBOX_FAILURE: Final = re.compile(r"sandbox|zygote|chroot", re.IGNORECASE)
"""What Chromium writes when it cannot start its sandbox; which one depends on what the system refuses."""
_ACCEPT_THE_RISK: Final = "Or render without the sandbox, if you accept the risk: PAGEKEEP_BROWSER_SANDBOX=false"

T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Processes:
    """Chromium and the driver that started it."""

    chromium: int
    """Process id; Playwright makes it the leader of a process group with all its processes."""
    driver: int | None
    """Process id; `None` if the system does not say."""

    def kill(self) -> None:
        """Kill Chromium's whole process group. The driver notices and cleans up."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                os.kill(self.chromium, signal.SIGTERM)
            elif os.getpgid(self.chromium) == self.chromium:
                os.killpg(self.chromium, signal.SIGKILL)
            else:
                os.kill(self.chromium, signal.SIGKILL)

    def kill_driver(self) -> None:
        """Kill a driver that does not respond. Chromium ends by itself when its driver is gone."""
        if self.driver is not None and sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.driver, signal.SIGKILL)

    async def wait_for_driver(self) -> None:
        """Wait until the driver has ended."""
        while self.driver is not None and Path(f"/proc/{self.driver}").exists():
            await asyncio.sleep(0.02)


@dataclass(slots=True, eq=False)
class Engine:
    """A driver and its Chromium, in which several pages can be open."""

    playwright: Playwright
    browser: Browser
    processes: Processes
    scratch: Path
    """Chromium's folder for temporary files, which it does not remove when it is killed."""
    user_agent: str
    """Chromium's own user agent."""
    pages_served: int = 0
    """Pages opened so far."""
    open_pages: int = 0
    """Pages open now."""
    broken: bool = False
    """Whether it hangs or is gone, and must not be used again."""
    _work: set[asyncio.Future[Any]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.browser.on("disconnected", lambda _: self._cancel_work())

    def _cancel_work(self) -> None:
        # Playwright does not wake up everything that waits for a dead browser.
        self.broken = True
        for work in self._work:
            work.cancel()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of the work; raise `BrowserCrashed` when Chromium dies meanwhile."""
        task = asyncio.ensure_future(work)
        self._work.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if self.broken and not is_being_cancelled():
                raise BrowserCrashed from None
            raise
        finally:
            self._work.discard(task)

    @property
    def usable(self) -> bool:
        """Whether a new page can be opened."""
        return not self.broken and self.browser.is_connected()

    def retire(self) -> None:
        """Finish the open pages and open no more."""
        self.pages_served = sys.maxsize

    def kill(self) -> None:
        """Kill Chromium; the open pages fail."""
        self.broken = True
        self.processes.kill()

    async def close(self) -> None:
        """End Chromium and the driver, by force if they do not respond."""
        healthy, self.broken = self.usable, True
        if healthy:
            await finished_within(CLOSE_SECONDS, self.browser.close())
        self.processes.kill()
        if not healthy:
            await asyncio.sleep(CLEANUP_SECONDS)
        if not await finished_within(CLOSE_SECONDS, self.playwright.stop()):
            self.processes.kill_driver()
        await finished_within(CLOSE_SECONDS, self.processes.wait_for_driver())  # on a busy machine it ends later
        shutil.rmtree(self.scratch, ignore_errors=True)


def is_being_cancelled() -> bool:
    """Return whether the current task is being cancelled: by a deadline, the caller or Ctrl-C. It must end then."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def require_playwright(configured: str | None) -> None:
    """Raise `RenderError`, which says how to install what is missing: Chromium, or Playwright, which drives it.

    In a checkout, Playwright is installed at the first page that needs it, and only where there is a Chromium.
    """
    try:
        import playwright.async_api  # noqa: F401
    except ImportError:
        chromium.find_chromium(configured)
        await asyncio.to_thread(extras.require, "browser", "A page that needs a browser", error=RenderError)


async def start(configured: str | None, proxy: str, *, sandbox: bool, visual: bool = False) -> Engine:
    """Start an engine whose connections all go to `proxy`; a `visual` one loads images and styles for screenshots.

    Raises `RenderError` without a Chromium or a sandbox where it is required, `BrowserCrashed` when it does not start.
    """
    from playwright.async_api import Error, async_playwright

    installed = chromium.find_chromium(configured)
    try:
        async with asyncio.timeout(START_SECONDS):
            playwright = await async_playwright().start()
            scratch = Path(tempfile.mkdtemp(prefix="pagekeep-"))
            try:
                flags = build_flags(installed, visual=visual)
                return await _launch(playwright, flags, installed, proxy, scratch, sandbox=sandbox)
            except BaseException:
                await finished_within(CLOSE_SECONDS, playwright.stop())
                shutil.rmtree(scratch, ignore_errors=True)
                raise
    except (Error, OSError, TimeoutError) as error:
        log.warning("Chromium did not start: %s", error)
        raise BrowserCrashed("Chromium did not start.") from None


async def finished_within(seconds: float, work: Awaitable[object]) -> bool:
    """Return whether the work ended in time; a failure counts as an end."""
    from playwright.async_api import Error

    try:
        await asyncio.wait_for(work, seconds)
    except TimeoutError:
        return False
    except (Error, OSError):
        return True
    return True


async def _launch(
    playwright: Playwright,
    switches: list[str],
    installed: chromium.Chromium,
    proxy: str,
    scratch: Path,
    *,
    sandbox: bool,
) -> Engine:
    browser = await _start_chromium(playwright, switches, installed, proxy, scratch, sandbox=sandbox)
    session = await browser.new_browser_cdp_session()
    running = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    about = await session.send("Browser.getVersion")
    await session.detach()
    main = next(process["id"] for process in running if process["type"] == "browser")
    return Engine(playwright, browser, Processes(main, _parent(main)), scratch, about["userAgent"])


async def _start_chromium(
    playwright: Playwright,
    switches: list[str],
    installed: chromium.Chromium,
    proxy: str,
    scratch: Path,
    *,
    sandbox: bool,
) -> Browser:
    """Start Chromium; raise `RenderError` when it needs its sandbox and the system does not allow one."""
    from playwright.async_api import Error

    if sandbox and not may_sandbox():
        raise RenderError(
            "Chromium has no sandbox when it runs as root, so the page was not rendered.",
            suggestions=("Run Pagekeep as an ordinary user.", _ACCEPT_THE_RISK),
        )
    try:
        return await playwright.chromium.launch(
            executable_path=installed.path,
            args=switches,
            env=browser_environment(scratch),
            artifacts_dir=scratch,
            ignore_default_args=list(REMOVED_DEFAULTS),
            chromium_sandbox=sandbox,
            # Without a password: the proxy refuses the requests of Chromium itself.
            proxy={"server": proxy, "bypass": "<-loopback>"},
        )
    except Error as error:
        if not sandbox or not _SANDBOX_FAILURE.search(error.message):
            raise
        raise RenderError(
            "This system does not allow Chromium's sandbox, so the page was not rendered.",
            suggestions=("Allow user namespaces; for containers see contrib/seccomp.json.", _ACCEPT_THE_RISK),
        ) from None


def _parent(pid: int) -> int | None:
    try:
        # The name in brackets may contain anything; state and parent follow the last bracket.
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


_CODE: Final = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_CRASH_MESSAGES: Final = ("has been closed", "crashed", "Connection closed", "Browser closed", "ERR_NETWORK_CHANGED")
_CODE_MESSAGES: Final = {
    "ERR_NAME_NOT_RESOLVED": "The host of this URL was not found.",
    "ERR_TOO_MANY_REDIRECTS": "The page redirects endlessly.",
    "ERR_SSL_PROTOCOL_ERROR": "The secure connection (TLS) to the server failed.",
}


class BrowserCrashed(Exception):
    """The browser or the page in it crashed; the page is tried once again before `message` is reported."""

    def __init__(self, message: str = "The browser crashed twice on this page.") -> None:
        super().__init__(message)
        self.message = message


def is_crash(error: Error) -> bool:
    """Return whether the error means that the browser or the page is gone."""
    return any(part in error.message for part in _CRASH_MESSAGES)


@contextmanager
def map_errors(is_usable: Callable[[], bool]) -> Iterator[None]:
    """Turn Playwright's errors into `BrowserCrashed` or `RenderError`; our own pass unchanged.

    `is_usable` returns whether the browser still works.
    """
    from playwright.async_api import Error

    try:
        yield
    except Error as error:
        if is_crash(error) or not is_usable():
            raise BrowserCrashed from None
        log.warning("The browser failed: %s", error.message)
        raise RenderError("The browser could not open this page.") from None


def navigation_error(error: Error | None, failures: Sequence[PagekeepError]) -> Exception:
    """Return the error for a page that could not be opened; the last failure of the proxy is the best explanation."""
    message = "" if error is None else error.message
    if error is not None and is_crash(error):
        return BrowserCrashed()
    if "Download is starting" in message or "ERR_ABORTED" in message:
        return UnsupportedContent("The URL leads to a download, not a page.")
    match = _CODE.search(message)
    code = match[1] if match else ""
    if code == "ERR_UNSAFE_REDIRECT":
        return BlockedAddress("The page redirects to a URL that is not a web page.", suggestions=())
    if failures:
        return failures[-1]
    if "TIMED_OUT" in code:
        return FetchTimeout("The server did not respond to the browser in time.")
    if "CERT" in code:
        return FetchNetworkError("The certificate of the server is not valid.")
    return FetchNetworkError(_CODE_MESSAGES.get(code, "The browser could not load the page."))
