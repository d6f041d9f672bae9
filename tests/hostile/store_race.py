"""Processes save at once: one URL a thousand times makes one item, a thousand URLs make a thousand; none fails (S2).

`python -m tests.hostile.store_race [--full] [--engine sqlite|postgres]`
"""

from __future__ import annotations

import os
from contextlib import closing
from multiprocessing.synchronize import Event

from pagekeep.errors import PagekeepError
from pagekeep.store import open_store
from tests.hostile.store_places import FORK, USER, all_items, faults_of, library_faults, page, run_script, start
from tests.store.making import NOW

PROCESSES = 5


def _save(where: str, gate: Event, pipe: int, numbers: list[int]) -> None:
    library = open_store(where, USER)
    gate.wait()
    for version, number in enumerate(numbers):
        try:
            library.items.save(*page(number, version))
            library.jobs.add(f"https://example.com/job/{number}", "https://example.com", {}, NOW)
        except PagekeepError as error:
            os.write(pipe, f"{error.type}: {error.message} {error.__cause__}\n".encode())
    library.close()


def race(where: str, shares: list[list[int]]) -> list[str]:
    """Each process saves its share; the errors they met."""
    gate = FORK.Event()
    reading, writing = os.pipe()
    processes = [start(_save, where, gate, writing, share) for share in shares]
    os.close(writing)
    gate.set()
    with os.fdopen(reading) as file:
        errors = file.read().splitlines()
    for process in processes:
        process.join()
    return errors + [f"a process ended with {process.exitcode}" for process in processes if process.exitcode]


def attack(where: str, count: int) -> list[str]:
    """This many saves of one URL, then of this many URLs."""
    open_store(where, USER).close()
    faults = race(where, [[0] * (count // PROCESSES)] * PROCESSES) + _counted(where, 1)
    shares = [list(range(1 + start, 1 + count, PROCESSES)) for start in range(PROCESSES)]
    return faults + race(where, shares) + _counted(where, count + 1) + library_faults(where)


def _counted(where: str, expected: int) -> list[str]:
    with closing(open_store(where, USER)) as library:
        items, jobs = all_items(library), library.jobs.list(limit=1_000_000)
        counts = (len(items), len({item.url for item in items}), library.counts.totals()["items"], len(jobs))
        faults = faults_of(library, 0)
    return faults if counts == (expected,) * 4 else [*faults, f"{counts} instead of {expected} items and jobs"]


if __name__ == "__main__":
    run_script(attack, 200, 1_000)
