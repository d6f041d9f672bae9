"""R2: the browser is killed at random moments of a page. The page is tried again, the next one works, nothing is left.

`python tests/hostile/render_kill.py` kills 10 times, `--full` 100 times.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from pagekeep.config import Settings
from pagekeep.errors import PagekeepError
from pagekeep.fetch.browser import Browser
from pagekeep.fetch.guard import Guard
from tests.hostile.render_apps import APPS, LAST
from tests.site.sandbox import SANDBOX
from tests.site.server import Site

SECONDS_FOR_NEXT = 10.0


def descendants(of: int) -> dict[int, str]:
    """All processes below one: number to state, `Z` for a zombie."""
    parents: dict[int, list[tuple[int, str]]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError):
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                parents.setdefault(int(parent), []).append((int(entry.name), state))
    found: dict[int, str] = {}
    todo = [of]
    while todo:
        for pid, state in parents.get(todo.pop(), []):
            found[pid] = state
            todo.append(pid)
    return found


def chromium_processes(but: Collection[int] = ()) -> list[int]:
    """The main processes of all Chromiums below us, but those."""
    found = []
    for pid in descendants(os.getpid()).keys() - set(but):
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"--remote-debugging-pipe" in command and b"--type=" not in command:
                found.append(pid)
    return found


async def kill_once(browser: Browser, url: str, after: float, spared: Collection[int] = ()) -> tuple[str, float]:
    """Kill Chromium `after` seconds into a render; how that ended, and how long the next render took."""
    work = asyncio.ensure_future(browser.render(url, timeout=15))
    await asyncio.sleep(after)
    for pid in chromium_processes(spared):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    try:
        outcome = "retried" if LAST in (await work).body.decode() else "without its text"
    except PagekeepError as error:
        outcome = error.type
    began = time.perf_counter()
    page = await browser.render(url, timeout=SECONDS_FOR_NEXT)
    assert LAST in page.body.decode()
    return outcome, time.perf_counter() - began


async def run(times: int, seed: int = 7) -> tuple[dict[str, int], float]:
    """Outcomes by name, and the slowest next render."""
    instants = random.Random(seed)
    outcomes: dict[str, int] = {}
    slowest = 0.0
    others = set(descendants(os.getpid()))
    with Site(APPS) as site:
        async with Browser(Settings(browser_sandbox=SANDBOX), Guard([site.host])) as browser:
            for _ in range(times):
                outcome, took = await kill_once(browser, site.url("/small"), instants.uniform(0, 0.45), others)
                outcomes[outcome] = outcomes.get(outcome, 0) + 1
                slowest = max(slowest, took)
            await asyncio.sleep(1)  # for those that have just ended to be fetched by their parent
            zombies = [pid for pid, state in descendants(os.getpid()).items() if state == "Z" and pid not in others]
            assert not zombies, f"{len(zombies)} zombies"
    assert not descendants(os.getpid()).keys() - others, "processes are left"
    return outcomes, slowest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    times = 100 if parser.parse_args().full else 10
    outcomes, slowest = asyncio.run(run(times))
    print(f"killed {times} times: {outcomes}; the next page took {slowest:.1f} s at most; no zombies, nothing left")
    return 0 if set(outcomes) == {"retried"} and slowest < SECONDS_FOR_NEXT else 1


if __name__ == "__main__":
    sys.exit(main())
