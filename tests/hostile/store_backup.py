"""Backups are made while others write: each is one state of the library, and restores to it (S5).

`python -m tests.hostile.store_backup [--full] [--engine sqlite|postgres]`
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from pagekeep.store import Store, open_store
from tests.hostile.store_places import USER, all_items, faults_of, kill, page, run_script, start

WRITERS = 2
ROOM = 1_000_000
"""Numbers that each writer has to itself."""


def _write(where: str, first: int) -> None:
    library = open_store(where, USER)
    for number in range(first, first + ROOM):
        library.upsert(*page(number))


@contextmanager
def restored(where: str, backup: Path, name: str) -> Iterator[Store]:
    """The backup as a library of its own."""
    if not where.startswith("postgres"):
        with closing(open_store(backup, USER)) as library:
            yield library
        return
    from pagekeep.store import postgres

    postgres.restore(where, str(backup), name)
    with closing(open_store(where, name)) as library:
        yield library


def _one_state(library: Store) -> list[str]:
    """Every writer saved its pages in order: a state has the first so many of each, whole."""
    faults = library.check()
    numbers = sorted(item.metadata.extra["nth"] for item in all_items(library))
    for writer in range(WRITERS):
        mine = [number for number in numbers if number // ROOM == writer]
        if mine != list(range(writer * ROOM, writer * ROOM + len(mine))):
            faults.append(f"writer {writer}: pages are missing among {len(mine)}")
        faults += faults_of(library, mine[-1]) if mine else []
    return faults if numbers else [*faults, "the backup is empty"]


def _contents(library: Store) -> list[Any]:
    return [
        ({name: getattr(item, name) for name in item.__dataclass_fields__ if name != "user_id"}, library.raw(item.id))
        for item in all_items(library)
    ]


def attack(where: str, count: int) -> list[str]:
    """So many backups under load, and one at rest that must be equal."""
    open_store(where, USER).close()
    writers = [start(_write, where, writer * ROOM) for writer in range(WRITERS)]
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        backup = Path(folder) / "backup"
        try:
            time.sleep(0.5)
            for number in range(count):
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
                if _contents(copy) != _contents(library) or copy.stats() != library.stats():
                    faults.append("the backup differs from the library")
    return faults


if __name__ == "__main__":
    run_script(attack, 3, 30)
