"""One running Chromium with its driver: started, counted, ended."""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pagekeep.errors import RenderError
from pagekeep.fetch.browser import chromium, processes
from pagekeep.fetch.browser.flags import DROPPED, environment, flags, may_sandbox
from pagekeep.fetch.browser.playwright_errors import Crashed
from pagekeep.fetch.browser.processes import Processes

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

START_SECONDS: Final = 20.0
CLOSE_SECONDS: Final = 5.0
TIDY_SECONDS: Final = 0.5
"""For the driver to remove the folders of a Chromium that died, which it does not do once it is told to end."""

T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Engine:
    """A driver and its Chromium. Several pages may be open in it at a time."""

    playwright: Playwright
    browser: Browser
    processes: Processes
    scratch: Path
    """Chromium's folder for temporary files: a killed one leaves its behind."""
    user_agent: str
    """Chromium's own."""
    served: int = 0
    """Pages given to it so far."""
    visiting: int = 0
    """Pages open in it now."""
    broken: bool = False
    """It was seen to hang: not to be used again."""
    _work: set[asyncio.Future[Any]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.browser.on("disconnected", lambda _: self._lost())

    def _lost(self) -> None:
        # Not everything that waits for an answer of a dead browser is told; so we tell it.
        self.broken = True
        for work in self._work:
            work.cancel()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work results in; `Crashed` when Chromium dies under it."""
        task = asyncio.ensure_future(work)
        self._work.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if self.broken and not being_cancelled():
                raise Crashed from None
            raise
        finally:
            self._work.discard(task)

    @property
    def usable(self) -> bool:
        """Whether a new page may be opened in it."""
        return not self.broken and self.browser.is_connected()

    def retire(self) -> None:
        """Let it serve what is open in it and nothing more."""
        self.served = sys.maxsize

    def kill(self) -> None:
        """End Chromium at once; what is open in it fails."""
        self.broken = True
        self.processes.kill()

    async def close(self) -> None:
        """End Chromium and the driver: by asking, else by force."""
        healthy, self.broken = self.usable, True
        if healthy:
            await within(CLOSE_SECONDS, self.browser.close())
        self.processes.kill()
        if not healthy:
            await asyncio.sleep(TIDY_SECONDS)
        if not await within(CLOSE_SECONDS, self.playwright.stop()):
            self.processes.kill_driver()
            await within(CLOSE_SECONDS, self.processes.driver_gone())
        _remove(self.scratch)


def being_cancelled() -> bool:
    """Whether somebody wants the task that runs now to end: a deadline, a caller, Ctrl-C. Nothing may keep it."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def require_playwright() -> None:
    """`RenderError` with the way to install it when Playwright is not there."""
    try:
        import playwright.async_api  # noqa: F401
    except ImportError:
        raise RenderError(
            "This page needs the browser, which is an optional part.", suggestions=(chromium.MISSING_PLAYWRIGHT,)
        ) from None


async def start(chosen: str | None, proxy: str, *, seen: bool = False) -> Engine:
    """A new engine whose every connection goes to `proxy`; one that loads what pages look like when they are to be `seen`.

    `RenderError` when there is no Chromium, `Crashed` when it does not start.
    """
    from playwright.async_api import Error, async_playwright

    found = chromium.find(chosen)
    try:
        async with asyncio.timeout(START_SECONDS):
            playwright = await async_playwright().start()
            scratch = Path(tempfile.mkdtemp(prefix="pagekeep-"))
            try:
                return await _launch(playwright, flags(found, seen=seen), found, proxy, scratch)
            except BaseException:
                await within(CLOSE_SECONDS, playwright.stop())
                _remove(scratch)
                raise
    except (Error, OSError, TimeoutError) as error:
        log.warning("Chromium did not start: %s", error)
        raise Crashed("Chromium did not start.") from None


async def within(seconds: float, work: Awaitable[object]) -> bool:
    """Whether the work was done in time. That it failed, with the browser gone under it, counts as done."""
    from playwright.async_api import Error

    try:
        await asyncio.wait_for(work, seconds)
    except TimeoutError:
        return False
    except (Error, OSError):
        return True
    return True


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


async def _launch(
    playwright: Playwright, switches: list[str], found: chromium.Chromium, proxy: str, scratch: Path
) -> Engine:
    browser = await _launch_sandboxed(playwright, switches, found, proxy, scratch)
    session = await browser.new_browser_cdp_session()
    running = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    about = await session.send("Browser.getVersion")
    await session.detach()
    main = next(process["id"] for process in running if process["type"] == "browser")
    return Engine(playwright, browser, processes.of_chromium(main), scratch, about["userAgent"])


async def _launch_sandboxed(
    playwright: Playwright, switches: list[str], found: chromium.Chromium, proxy: str, scratch: Path
) -> Browser:
    """Chromium in its sandbox where that can be had; some containers forbid what the sandbox is made of."""
    from playwright.async_api import Error

    async def launch(sandbox: bool) -> Browser:
        return await playwright.chromium.launch(
            executable_path=found.path,
            args=switches,
            env=environment(scratch),
            artifacts_dir=scratch,
            ignore_default_args=list(DROPPED),
            chromium_sandbox=sandbox,
            # Without a credential: what Chromium asks for on its own account is refused by the proxy.
            proxy={"server": proxy, "bypass": "<-loopback>"},
        )

    if not may_sandbox():
        return await launch(sandbox=False)
    try:
        return await launch(sandbox=True)
    except Error as error:
        if "sandbox" not in error.message.lower():
            raise
        log.warning("Chromium runs without its sandbox: this system does not allow one.")
        return await launch(sandbox=False)
