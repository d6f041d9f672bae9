"""A process that keeps files is killed at random points: no item lacks its files, and at most one file is left over (K3).

`python -m tests.hostile.store_blobs [--full] [--engine sqlite|postgres]`
"""

from __future__ import annotations

import hashlib
import os
import random
import select
import time
from contextlib import closing

from pagekeep.model import ItemBlob
from pagekeep.store import Store, open_store
from tests.hostile.store_places import USER, all_items, kill, library_faults, page, run_script, start
from tests.store.making import NOW

LATER = "2099-01-01T00:00:00.000000Z"
SIZE = 60_000
"""Bytes of a file: writing takes long enough that processes die in the middle of it."""


def _body(number: int) -> bytes:
    return random.Random(number).randbytes(SIZE + number % 1_000)


def _keep(where: str, begin: int, pipe: int) -> None:
    """Save pages with two files each, and report each when it is acknowledged; remove some files and collect between."""
    library = open_store(where, USER)
    for number in range(begin, begin + 1_000_000):
        item = library.items.save(*page(number))
        for nth in range(2):
            body = _body(2 * number + nth)
            name = library.blobs.put(body, NOW, compress=nth == 1)
            link = ItemBlob("picture", f"https://x.example/{nth}", "kept", NOW, "image/png", name, len(body))
            library.blobs.link(item.id, [link])
        os.write(pipe, f"{number}\n".encode())
        if number % 5 == 4:
            library.items.delete(item.id, NOW)
            library.items.purge([item.id])
            library.blobs.collect(NOW, LATER, at_once=True)


def _round(where: str, begin: int, delay: float) -> list[int]:
    """Return the numbers that one process acknowledged, which lives for `delay` seconds from its first."""
    reading, writing = os.pipe()
    process = start(_keep, where, begin, writing)
    os.close(writing)
    select.select([reading], [], [], 30)
    time.sleep(delay)
    kill(process)
    with os.fdopen(reading) as file:
        return [int(line) for line in file.read().splitlines(keepends=True) if line.endswith("\n")]


def attack(where: str, count: int) -> list[str]:
    """Kill this many times; return what is wrong then."""
    open_store(where, USER).close()
    chance = random.Random(11)
    acknowledged: set[int] = set()
    faults: list[str] = []
    begin = 0
    for _ in range(count):
        done = _round(where, begin, chance.uniform(0, 0.06))
        acknowledged |= set(done)
        begin = max([begin, *done]) + 2
        with closing(open_store(where, USER)) as library:
            faults += _left_over(library)
    with closing(open_store(where, USER)) as library:
        faults += _missing(library, acknowledged)
    return faults + library_faults(where)


def _left_over(library: Store) -> list[str]:
    """Return a fault when one kill left more than one file without a row, or more than one unused file."""
    folder = library._engine.blobs
    unused = library.blobs.storage().unused
    faults = (
        [f"{unused.count} unused files"] if unused.count > 2 else []
    )  # one of each item that was purged, and the new one
    if folder is None:
        library.blobs.collect(NOW, LATER, at_once=True)
        return faults
    stored = {name for (name,) in library._engine.read(lambda tx: tx.all("SELECT hash FROM blobs"))}
    orphans = [file for file in folder.files() if file.hash not in stored]
    if len(orphans) > 3 or sum(file.size for file in orphans) > 3 * (SIZE + 1_000):
        faults.append(f"{len(orphans)} files without a row")
    for file in orphans:
        file.path.unlink()
    library.blobs.collect(NOW, LATER, at_once=True)
    return faults


def _missing(library: Store, acknowledged: set[int]) -> list[str]:
    """Return what acknowledged items lack."""
    faults = []
    found = set()
    for item in all_items(library):
        number = item.metadata.extra["nth"]
        found.add(number)
        links = library.blobs.of_item(item.id)
        if number in acknowledged and len(links) != 2:
            faults.append(f"page {number} has {len(links)} files")
        for link in links:
            nth = int(link.source[-1])
            if (
                hashlib.sha256(library.blobs.get(str(link.hash))).digest()
                != hashlib.sha256(_body(2 * number + nth)).digest()
            ):
                faults.append(f"page {number} has another file")
    lost = {number for number in acknowledged if number % 5 != 4} - found
    return faults + ([f"{len(lost)} pages are lost"] if lost else [])


if __name__ == "__main__":
    run_script(attack, 5, 200)
