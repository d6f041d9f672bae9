"""Backups are made while others write: each is one state of the library, and restores to it (S5).

`python -m tests.hostile.store_backup [--full] [--engine sqlite|postgres]`
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from pagekeep.store import Store, open_store
from tests.hostile.store_places import USER, all_items, faults_of, kill, page, run_script, start

WRITERS = 2
ROOM = 1_000_000
"""Numbers that each writer has to itself."""
PAGES = 1_500
"""Pages of a writer; then it saves newer versions of them, in the same order, so that a long run does not get slower."""


def _write(where: str, first: int) -> None:
    library = open_store(where, USER)
    for version in count():
        for number in range(first, first + PAGES):
            library.items.save(*page(number, version))


@contextmanager
def restored(where: str, backup: Path, name: str) -> Iterator[Store]:
    """The backup as a separate library."""
    if not where.startswith("postgres"):
        with closing(open_store(backup, USER)) as library:
            yield library
        return
    from pagekeep.store import postgres

    postgres.restore(where, str(backup), name)
    with closing(open_store(where, name)) as library:
        yield library


def _one_state(library: Store) -> list[str]:
    """Every writer saved its pages in order: a state has the first N of each, whole, and the newest version of the first M."""
    faults = library.check()
    versions = {item.metadata.extra["nth"]: item.metadata.extra["version"] for item in all_items(library)}
    for writer in range(WRITERS):
        mine = sorted(number for number in versions if number // ROOM == writer)
        if mine != list(range(writer * ROOM, writer * ROOM + len(mine))):
            faults.append(f"writer {writer}: pages are missing among {len(mine)}")
        order = [versions[number] for number in mine]
        if order != sorted(order, reverse=True) or (order and order[0] - order[-1] > 1):
            faults.append(f"writer {writer}: newer and older versions are mixed")
        faults += faults_of(library, mine[-1]) if mine else []
    return faults if versions else [*faults, "the backup is empty"]


def _contents(library: Store) -> list[Any]:
    return [
        (
            {name: getattr(item, name) for name in item.__dataclass_fields__ if name != "user_id"},
            library.items.raw(item.id),
        )
        for item in all_items(library)
    ]


def attack(where: str, rounds: int) -> list[str]:
    """This many backups under load, and one at rest that must be equal."""
    open_store(where, USER).close()
    writers = [start(_write, where, writer * ROOM) for writer in range(WRITERS)]
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        backup = Path(folder) / "backup"
        try:
            time.sleep(0.5)
            for number in range(rounds):
                with closing(open_store(where, USER)) as library:
                    library.backup(str(backup))
                with restored(where, backup, f"copy {number} of {os.getpid()}") as copy:
                    faults += _one_state(copy)
        finally:
            for writer in writers:
                kill(writer)
        with closing(open_store(where, USER)) as library:
            library.backup(str(backup))
            with restored(where, backup, f"last copy of {os.getpid()}") as copy:
                if _contents(copy) != _contents(library) or copy.counts.totals() != library.counts.totals():
                    faults.append("the backup differs from the library")
    return faults


if __name__ == "__main__":
    run_script(attack, 3, 30)
