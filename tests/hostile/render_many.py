"""R4: many renders leave memory and descriptors flat, and the browser is replaced every few pages.

`python tests/hostile/render_many.py` renders 120 pages with a new browser every 40, `--full` 1,000 with one every 100.
Memory is looked at when a browser is at the same age each time, so that its own growth between two replacements, which is
Chromium's affair, is not taken for ours.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from pagekeep.config import Settings
from pagekeep.fetch.browser import Browser
from pagekeep.fetch.guard import Guard
from tests.hostile.render_apps import APPS, LAST
from tests.hostile.render_kill import chromium_processes, descendants
from tests.site.sandbox import SANDBOX
from tests.site.server import Site

AT_ONCE = 3


def memory(pid: int) -> float:
    """Megabytes that a process holds for itself."""
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def state() -> dict[str, float]:
    """Our memory, that of all processes below us, our descriptors, and how many processes there are."""
    below = descendants(os.getpid())
    return {
        "own MB": memory(os.getpid()),
        "browser MB": sum(map(memory, below)),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "processes": len(below),
    }


async def run(renders: int, pages: int, *, show: bool = False) -> tuple[list[dict[str, float]], int]:
    """The state in the middle of each browser's life, and how many browsers there were."""
    states = []
    browsers = set()
    with Site(APPS) as site:
        async with Browser(Settings(browser_sandbox=SANDBOX, browser_pages=pages), Guard([site.host])) as browser:

            async def render() -> None:
                page = await browser.render(site.url("/small"), wait_for="#root p")
                assert LAST in page.body.decode()

            done = 0
            while done < renders:
                batch = min(AT_ONCE, pages - done % pages, renders - done)
                await asyncio.gather(*(render() for _ in range(batch)))
                before, done = done, done + batch
                if before % pages < pages // 2 <= done % pages:
                    site.requests.clear()
                    browsers.update(chromium_processes())
                    await asyncio.sleep(0.5)
                    states.append(state())
                    if show:
                        print(done, {name: round(value, 1) for name, value in states[-1].items()}, flush=True)
    return states, len(browsers)


def flat(states: list[dict[str, float]]) -> list[str]:
    """What is not flat, first browser against last."""
    first, last = states[0], states[-1]
    allowed = {"own MB": 12, "browser MB": 60, "descriptors": 2, "processes": 3}
    return [
        f"{name} went from {first[name]:.0f} to {last[name]:.0f}"
        for name, slack in allowed.items()
        if last[name] > first[name] + slack
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    renders, pages = (1000, 100) if parser.parse_args().full else (120, 40)
    began = time.perf_counter()
    states, browsers = asyncio.run(run(renders, pages, show=True))
    wrong = flat(states)
    if browsers != renders // pages:
        wrong.append(f"there were {browsers} browsers for {renders} pages")
    print(
        "; ".join(wrong) or f"flat over {renders} renders and {browsers} browsers",
        f"({time.perf_counter() - began:.0f} s)",
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
