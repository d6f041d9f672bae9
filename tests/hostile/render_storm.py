"""R3: pages that hang, flood and devour. Each ends by its deadline, while a good page beside it completes.

`python tests/hostile/render_storm.py` runs the worst few, `--full` all of them, three times.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from pagekeep.config import Settings
from pagekeep.errors import PagekeepError
from pagekeep.fetch.browser import Browser
from pagekeep.fetch.guard import Guard
from tests.hostile.render_apps import APPS, HOSTILE, LAST
from tests.site.sandbox import SANDBOX
from tests.site.server import Site

DEADLINE = 4.0
GRACE = 6.0
"""Seconds past the deadline for ending what hangs."""
WORST = ("loop", "alerts", "allocate", "popups", "downloads")


async def one(browser: Browser, site: Site, name: str) -> tuple[str, float, str, float]:
    """Outcome and seconds of the bad page, and of the good page beside it."""

    async def bad() -> tuple[str, float]:
        began = time.perf_counter()
        try:
            page = await browser.render(site.url(f"/{name}"), timeout=DEADLINE)
            outcome = f"{len(page.body)} bytes"
        except PagekeepError as error:
            outcome = error.type
        return outcome, time.perf_counter() - began

    async def good() -> tuple[str, float]:
        await asyncio.sleep(0.5)
        began = time.perf_counter()
        try:
            page = await browser.render(site.url("/small"), timeout=20)
            outcome = "complete" if LAST in page.body.decode() else "without its text"
        except PagekeepError as error:
            outcome = error.type
        return outcome, time.perf_counter() - began

    (outcome, took), (beside, beside_took) = await asyncio.gather(bad(), good())
    return outcome, took, beside, beside_took


async def run(names: Iterable[str], *, show: bool = False) -> list[str]:
    """What went wrong, in words."""
    wrong = []
    with Site(APPS) as site:
        async with Browser(Settings(browser_sandbox=SANDBOX), Guard([site.host])) as browser:
            await browser.render(site.url("/small"))
            for name in names:
                outcome, took, beside, beside_took = await one(browser, site, name)
                if show:
                    print(
                        f"{name:12} {outcome:20} {took:5.1f} s   beside it: {beside} in {beside_took:.1f} s", flush=True
                    )
                if took > DEADLINE + GRACE:
                    wrong.append(f"{name} took {took:.1f} s")
                if beside != "complete":
                    wrong.append(f"the page beside {name} ended as {beside}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    names = HOSTILE * 3 if parser.parse_args().full else WORST
    wrong = asyncio.run(run(names, show=True))
    print("\n".join(wrong) or "all ended in time, and every good page beside them was read")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
