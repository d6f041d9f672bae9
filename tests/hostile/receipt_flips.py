"""`verify` finds every flipped byte: in texts, raw pages and kept files of both engines, and in the file of SQLite itself.

`python -m tests.hostile.receipt_flips [--full] [--engine sqlite|postgres]`
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from pagekeep.library.verify import select, verify
from pagekeep.store import open_store
from tests.hostile.store_places import USER, run_script
from tests.library.receipts.making import RULES, Part, flip, keep, keep_file

PARTS: tuple[Part, ...] = ("raw", "text", "blob")


def attack(where: str, count: int) -> list[str]:
    """Flip a byte of the text, raw page or kept file of this many items, and look for each."""
    dice = random.Random(count)
    with closing(open_store(where, USER)) as library:
        items = [keep(library, number) for number in range(count + 10)]
        damaged = {item.id for item in items[:count]}
        for item in items:
            keep_file(library, item)
        for number, item in enumerate(items[:count]):
            flip(where, USER, item.id, PARTS[number % 3], dice)
        found = {verdict.item_id for verdict in verify(library, select(library, ()), RULES) if verdict.is_fault}
    return [f"not found: {item_id}" for item_id in damaged - found] + [
        f"found without damage: {item_id}" for item_id in found - damaged
    ]


def attack_file(count: int) -> list[str]:
    """Flip bytes in a library file where SQLite keeps a text or a raw page, one file each."""
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "library.db"
        with closing(open_store(path, USER)) as library:
            items = [keep(library, number) for number in range(3)]
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
            packed = [row[0] for row in connection.execute("SELECT body FROM raw_bodies")]
            others = b"\n".join(_other_values(connection))
        whole = path.read_bytes()
        dice = random.Random(count)
        for number in range(count):
            value = items[number % 3].content.encode() if number % 2 else packed[number % 3]
            # A value is cut where its page ends: a piece of it is found in the file, if it is not on such a border.
            at = -1
            while at < 0:
                start = dice.randrange(len(value) - 8)
                piece = value[start : start + 8]
                at = whole.find(piece) if piece not in others else -1
            data = bytearray(whole)
            data[at] ^= 0xFF
            path.write_bytes(data)
            with closing(open_store(path, USER)) as library:
                if not any(verdict.is_fault for verdict in verify(library, select(library, ()), RULES, processes=1)):
                    faults.append(f"byte {at} of the file: not found")
    return faults


def _other_values(connection: sqlite3.Connection) -> Iterator[bytes]:
    """What the file holds besides texts and raw pages: the schema, titles, addresses, search words."""
    for name, sql in connection.execute("SELECT name, sql FROM sqlite_master").fetchall():
        yield str(sql).encode()
        if not str(sql).startswith("CREATE TABLE"):
            continue
        for column, *_ in connection.execute(f"SELECT name FROM pragma_table_info('{name}')").fetchall():
            if (name, column) not in (("items", "content"), ("raw_bodies", "body")):
                for (value,) in connection.execute(f'SELECT "{column}" FROM "{name}"'):
                    yield value if isinstance(value, bytes) else str(value).encode()


def attack_all(where: str, count: int) -> list[str]:
    """All attacks that the engine allows."""
    return attack(where, count) + ([] if where.startswith("postgres") else attack_file(count))


if __name__ == "__main__":
    run_script(attack_all, 10, 100)
