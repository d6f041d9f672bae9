"""Damaged library files, the same for the same seed."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

from pagekeep.store import open_store
from tests.store.making import make_item, make_raw

PAGE = 2048


def make_library(path: Path, items: int = 40) -> list[str]:
    """Make a library in one file and return the ids of its items."""
    ids = []
    with closing(open_store(path)) as library:
        for number in range(items):
            item = make_item(number, title=f"Title {number}", content=f"Words of page {number}. " * 60, tags=["some"])
            raw = make_raw(random.Random(number).randbytes(1500))
            ids.append(library.items.save(item, raw).id)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return ids


def pages_of(path: Path, table: str) -> list[int]:
    """Return the numbers of all pages of a table but its root, from 1."""
    with closing(sqlite3.connect(path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    data = path.read_bytes()
    start = (root - 1) * PAGE
    assert data[start] == 5, "the root is not an interior page: make a larger library"
    count = int.from_bytes(data[start + 3 : start + 5])
    cells = [int.from_bytes(data[start + 12 + 2 * n : start + 14 + 2 * n]) for n in range(count)]
    return [int.from_bytes(data[start + cell : start + cell + 4]) for cell in cells]


def flip_pages(path: Path, numbers: list[int], seed: int = 0) -> None:
    """Overwrite pages with random bytes."""
    noise = random.Random(seed)
    with path.open("rb+") as file:
        for number in numbers:
            file.seek((number - 1) * PAGE)
            file.write(noise.randbytes(PAGE))
