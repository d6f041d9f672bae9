"""Libraries with damaged pages: `repair` saves every item that can be read, and no backup is made worse (J2).

`python -m tests.hostile.damaged_libraries [LIBRARIES]`: 1 to 20 pages each, damaged in one of five ways.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Final

from pagekeep.errors import PagekeepError, StoreError
from pagekeep.model import Item
from pagekeep.store import open_store
from pagekeep.store.salvage import salvage
from tests.hostile.store_places import all_items
from tests.store.damage import PAGE, make_library

ITEMS: Final = 60
WAYS: Final = ("noise", "zeros", "bits", "torn", "swapped")


def damage(path: Path, way: str, pages: int, chance: random.Random) -> None:
    """Damage some pages of a file."""
    data = bytearray(path.read_bytes())
    count = len(data) // PAGE
    for number in chance.sample(range(count), min(pages, count)):
        begin, end = number * PAGE, (number + 1) * PAGE
        if way == "noise":
            data[begin:end] = chance.randbytes(PAGE)
        elif way == "zeros":
            data[begin:end] = bytes(PAGE)
        elif way == "torn":
            data[begin + PAGE // 2 : end] = chance.randbytes(PAGE // 2)
        elif way == "swapped":
            other = chance.randrange(count) * PAGE
            data[begin:end] = data[other : other + PAGE]
        else:
            for _ in range(8):
                data[begin + chance.randrange(PAGE)] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def readable_items(path: Path) -> set[str]:
    """Return the ids of the items that SQLite itself can read one by one, with all columns and valid text."""
    found = set()
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        for seq in range(1, ITEMS + 40):
            try:
                rows = connection.execute("SELECT * FROM items NOT INDEXED WHERE seq = ?", (seq,)).fetchall()
            except (sqlite3.Error, ValueError, OverflowError):  # the text of an error may be noise, too
                continue
            found |= {row[2] for row in rows if isinstance(row[2], str)}
    return found


def attack_library(original: Path, folder: Path, way: str, pages: int, seed: int, counts: Counter[str]) -> list[str]:
    """Damage a copy of the library, back it up over a good backup, repair it; return what is wrong."""
    where = f"{way}, {pages} pages, seed {seed}"
    path, backup, new = folder / "library.db", folder / "backup.db", folder / "new.db"
    for file in folder.glob("*"):
        file.unlink()
    shutil.copy(original, path)
    with closing(open_store(path)) as library:
        known = {item.id: item for item in all_items(library)}
        library.backup(str(backup))
    for log in folder.glob("library.db-*"):
        log.unlink()
    damage(path, way, pages, random.Random(seed))
    faults = _backup_faults(path, backup, known, where, counts)
    for log in folder.glob("library.db-*"):
        log.unlink()
    before, can_read = path.read_bytes(), readable_items(path) & known.keys()
    try:
        report = salvage(path, new)
    except StoreError as error:
        counts["refused"] += 1
        return faults + ([f"{where}: nothing saved of {len(can_read)}: {error.message}"] if can_read else [])
    except Exception as error:
        return [*faults, f"{where}: {type(error).__name__}: {error}"]
    with closing(open_store(new)) as library:
        saved = {item.id: item for item in all_items(library)}
        faults += [f"{where}: the new library: {fault}" for fault in library.check()[:1]]
    counts["readable"] += len(can_read)
    counts["saved"] += len(saved.keys() & known.keys())
    counts["lost"] += len(known.keys() - saved.keys())
    if path.read_bytes() != before:
        faults.append(f"{where}: the damaged file was changed")
    if can_read - saved.keys():
        faults.append(f"{where}: {len(can_read - saved.keys())} of {len(can_read)} readable items are not saved")
    if known.keys() - saved.keys() and report.complete:
        faults.append(f"{where}: {len(known.keys() - saved.keys())} items are lost and the report says nothing")
    return faults


def _backup_faults(path: Path, backup: Path, known: dict[str, Item], where: str, counts: Counter[str]) -> list[str]:
    """Back up the damaged library over the good backup, which must stay good."""
    try:
        with closing(open_store(path)) as library:
            library.backup(str(backup))
        counts["backups made"] += 1
    except PagekeepError:
        counts["backups refused"] += 1
    except Exception as error:
        return [f"{where}: backup: {type(error).__name__}: {error}"]
    with closing(sqlite3.connect(backup)) as connection:
        state = connection.execute("PRAGMA integrity_check").fetchone()[0]
    with closing(open_store(backup)) as library:
        lost = known.keys() - {item.id for item in all_items(library)}
        faults = library.check()
    return (
        [f"{where}: the backup is worse: {state}, {len(lost)} lost, {faults[:1]}"]
        if lost or faults or state != "ok"
        else []
    )


def attack(libraries: int, counts: Counter[str]) -> list[str]:
    """Return the faults of this many damaged libraries."""
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        original, work = Path(folder) / "original.db", Path(folder) / "work"
        work.mkdir()
        make_library(original, ITEMS)
        for seed in range(libraries):
            faults += attack_library(original, work, WAYS[seed % len(WAYS)], seed * 7 % 20 + 1, seed, counts)
    return faults


if __name__ == "__main__":
    began, totals = time.monotonic(), Counter[str]()
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    found = attack(number, totals)
    print(f"{number} libraries in {time.monotonic() - began:.0f} s, {dict(totals)}, {len(found)} faults")
    print("\n".join(found))
    sys.exit(bool(found))
