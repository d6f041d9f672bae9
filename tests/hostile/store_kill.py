"""A saving process is killed at random points: every acknowledged page is there once and whole, no job is stuck (S1).

`python -m tests.hostile.store_kill [--full] [--engine sqlite|postgres]`
"""

from __future__ import annotations

import os
import random
import select
import time
from contextlib import closing

from pagekeep.store import open_store
from tests.hostile.store_places import USER, all_items, faults_of, kill, library_faults, page, run_script, start
from tests.store.making import NOW

PAGES = 40
"""Pages that are saved over and over, in ever newer versions."""
FAR = "2099-01-01T00:00:00.000000Z"


def _save(where: str, begin: int, pipe: int) -> None:
    """Save, and tell each save once it is acknowledged; and work off jobs between."""
    library = open_store(where, USER)
    for version in range(begin, begin + 1_000_000):
        number = version % PAGES
        library.items.save(*page(number, version))
        os.write(pipe, f"{number} {version}\n".encode())
        library.jobs.add(f"https://example.com/job/{version}", "https://example.com", {}, NOW)
        job = library.jobs.lease(f"worker {begin}", NOW, FAR)
        if job is not None and version % 3:
            library.jobs.finish(job.id, f"worker {begin}")


def _round(where: str, begin: int, delay: float) -> dict[int, int]:
    """Number to the last acknowledged version, of one process that lives for `delay` seconds from its first save."""
    reading, writing = os.pipe()
    process = start(_save, where, begin, writing)
    os.close(writing)
    select.select([reading], [], [], 30)
    time.sleep(delay)
    kill(process)
    with os.fdopen(reading) as file:
        lines = [line.split() for line in file.read().splitlines(keepends=True) if line.endswith("\n")]
    return {int(number): int(version) for number, version in lines}


def attack(where: str, count: int) -> list[str]:
    """Kill this many times; what is wrong then."""
    open_store(where, USER).close()
    chance = random.Random(7)
    acknowledged: dict[int, int] = {}
    faults: list[str] = []
    begin = 0
    for number in range(count):
        reported = _round(where, begin, chance.uniform(0, 0.05))
        begin = max([begin, *reported.values()]) + 2
        acknowledged |= reported
        with closing(open_store(where, USER)) as library:
            for page_number in sorted(reported)[:5] if number < count - 1 else sorted(acknowledged):
                faults += faults_of(library, page_number, acknowledged[page_number])
    return faults + _whole(where, acknowledged) + _stuck(where) + library_faults(where)


def _whole(where: str, acknowledged: dict[int, int]) -> list[str]:
    with closing(open_store(where, USER)) as library:
        items = all_items(library)
        lost = set(acknowledged) - {item.metadata.extra["nth"] for item in items}
    twice = len(items) - len({item.url for item in items})
    return [f"{len(lost)} lost, {twice} twice"] if lost or twice or not items else []


def _stuck(where: str) -> list[str]:
    """When all leases have run out, every unfinished job is to be had."""
    with closing(open_store(where, USER)) as library:
        unfinished = {job.id for state in ("queued", "running") for job in library.jobs.list(state, limit=1_000_000)}
        leased = set()
        while job := library.jobs.lease("last", FAR, "2100-01-01T00:00:00.000000Z"):
            leased.add(job.id)
            library.jobs.finish(job.id, "last")
    return [f"{len(unfinished - leased)} jobs are stuck"] if unfinished != leased else []


if __name__ == "__main__":
    run_script(attack, 50, 500)
