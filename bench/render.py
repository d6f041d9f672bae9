"""Compare rendering with a plain Playwright script on the same page and the same Chromium, measured in one run.

`python bench/render.py [--renders 20]`. The plain script does the obvious: a new context, `goto`, wait, read. Pagekeep does
the same behind the filtering proxy, with its own rule for when a page has settled. Then that rule is compared with
`networkidle` on pages that load their text in different ways.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.async_api import Browser as Bare
from playwright.async_api import Error, async_playwright

from pagekeep.config import Settings
from pagekeep.errors import PagekeepError
from pagekeep.fetch.browser import Browser, chromium
from pagekeep.fetch.browser.chromium import may_sandbox
from pagekeep.fetch.guard import Guard
from tests.hostile.render_apps import APPS, LAST
from tests.site.server import Site

WAYS = ("static", "small", "late", "slow", "polling", "longpoll", "websocket", "animated", "scroll", "hung-script")


async def bare_named(browser: Bare, url: str) -> str:
    return await _bare(browser, url, "load", "#root p")


async def bare_idle(browser: Bare, url: str) -> str:
    return await _bare(browser, url, "networkidle", None)


async def bare_load(browser: Bare, url: str) -> str:
    return await _bare(browser, url, "load", None)


async def _bare(browser: Bare, url: str, until: str, selector: str | None) -> str:
    context = await browser.new_context()
    try:
        page = await context.new_page()
        await page.goto(url, wait_until=until, timeout=15_000)  # type: ignore[arg-type]
        if selector:
            await page.wait_for_selector(selector)
        return await page.content()
    finally:
        await context.close()


async def timed(work: Callable[[], Awaitable[str]]) -> tuple[float, str]:
    began = time.perf_counter()
    try:
        html = await work()
    except (Error, PagekeepError) as error:
        html = f"{type(error).__name__}"
    return time.perf_counter() - began, html


async def alternate(renders: int, works: dict[str, Callable[[], Awaitable[str]]]) -> dict[str, float]:
    """Return the median of each, measured alternately so that a busy moment of the machine affects all."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(renders):
        for name, work in works.items():
            took, html = await timed(work)
            assert LAST in html or name == "bare, load", f"{name} did not get the text"
            times[name].append(took)
    return {name: statistics.median(taken) for name, taken in times.items()}


async def main(renders: int) -> None:
    with Site(APPS) as site:
        async with (
            async_playwright() as playwright,
            Browser(Settings(browser_sandbox=may_sandbox()), Guard([site.host])) as ours,
        ):
            found = chromium.find_chromium()
            bare = await playwright.chromium.launch(executable_path=found.path)

            async def render(url: str, wait_for: str | None = None) -> str:
                return (await ours.render(url, wait_for=wait_for, timeout=15)).body.decode()

            await render(site.url("/small"))
            await bare_load(bare, site.url("/small"))
            url = site.url("/small")
            medians = await alternate(
                renders,
                {
                    "bare, waiting for the selector": lambda: bare_named(bare, url),
                    "ours, waiting for the selector": lambda: render(url, "#root p"),
                    "bare, networkidle": lambda: bare_idle(bare, url),
                    "bare, load": lambda: bare_load(bare, url),
                    "ours, settled": lambda: render(url),
                },
            )
            for name, median in medians.items():
                print(f"{name:34} {median * 1000:7.0f} ms")
            named = medians["ours, waiting for the selector"] / medians["bare, waiting for the selector"]
            idle = medians["ours, settled"] / medians["bare, networkidle"]
            print(
                f"small app, selector named: {named:.2f} times bare; no selector: {idle:.2f} times bare networkidle\n"
            )
            print(f"{'page':14}{'networkidle':>14}{'text':>6}{'settle rule':>14}{'text':>6}")
            for way in WAYS:
                url = site.url(f"/{way}")
                idle_took, idle_html = await timed(lambda url=url: bare_idle(bare, url))  # type: ignore[misc]
                took, html = await timed(lambda url=url: render(url))  # type: ignore[misc]
                print(
                    f"{way:14}{idle_took:12.2f} s{'yes' if LAST in idle_html else 'no':>6}"
                    f"{took:12.2f} s{'yes' if LAST in html else 'no':>6}"
                )
            await bare.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renders", type=int, default=20)
    asyncio.run(main(parser.parse_args().renders))
