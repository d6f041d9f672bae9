"""What tags cost: one tag on a long item beside a pin, and renaming a tag on half of a library, in CPU time.

`python bench/tags.py [--items 10000] [--postgres]`. Goals: one tag on an item of 200,000 words costs like a pin; a rename takes
at most 50 microseconds an item. On PostgreSQL the CPU time of the server's processes is added to that of this one.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.store import USER, pages
from pagekeep.library.items.change import change_item
from pagekeep.library.items.tags import rename_tag, undo_tags
from pagekeep.model import NewItem
from pagekeep.model.lists import ItemChange
from pagekeep.store import Store, open_store
from tests.store.making import postgres_server

LONG_WORDS = 200_000
TEXT_WORDS = 900
ROUNDS = 9


def _processes() -> dict[int, float]:
    """Return the CPU seconds of this process, and of every process of a database."""
    seconds = {}
    for folder in Path("/proc").iterdir():
        try:
            name, numbers = (folder / "stat").read_text().rsplit(")", 1) if folder.name.isdigit() else ("", "")
        except OSError:
            continue
        if name.endswith("(postgres"):
            fields = numbers.split()
            seconds[int(folder.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return {**seconds, os.getpid(): time.process_time()}


class Meter:
    """The CPU seconds that a block takes, here and in the database."""

    def __enter__(self) -> Meter:
        self._before = _processes()
        return self

    def __exit__(self, *_error: object) -> None:
        after = _processes()
        self.seconds = sum(value - self._before.get(process, 0.0) for process, value in after.items())


def fill(library: Store, count: int) -> None:
    """Add items, half of them with the tag Energy."""
    source = (item for item, _ in pages(0, TEXT_WORDS))
    for begin in range(0, count, 500):
        entries = []
        for number, item in enumerate(islice(source, min(500, count - begin)), start=begin):
            tags = ("Energy" if number % 2 else "wind", f"tag {number % 97}", "zebra")
            entries.append(NewItem(replace(item, metadata=replace(item.metadata, tags=tags)), None))
        library.items.save_many(entries, lambda _, new: new)


def measure(where: str, items: int) -> None:
    """Print the costs on one engine."""
    with closing(open_store(where, USER)) as library:
        fill(library, items)
        (long_item,) = islice((item for item, _ in pages(10_000_000, LONG_WORDS)), 1)
        key = library.items.save(long_item, None).id
        costs: dict[str, list[float]] = {"pin": [], "tag": []}
        for number in range(ROUNDS):
            for name, change in (
                ("pin", ItemChange(pinned=number % 2 == 0)),
                ("tag", ItemChange(add_tags=(f"new {number}",))),
            ):
                with Meter() as meter:
                    for turn in range(5):  # a database counts its time in hundredths of a second
                        again = replace(change, pinned=(turn + number) % 2 == 0) if name == "pin" else change
                        change_item(
                            library, key, again if name == "pin" else ItemChange(add_tags=(f"new {number} {turn}",))
                        )
                costs[name].append(meter.seconds / 5)
        pin, tag = (median(costs[name]) * 1e3 for name in ("pin", "tag"))
        print(f"  an item of {LONG_WORDS:,} words: pin {pin:.1f} ms, tag {tag:.1f} ms, ratio {tag / pin:.2f}")
        renames = []
        for name in ("Power grid", "Grid of power", "Energy"):
            old = "Energy" if not renames else renames[-1][0]
            with Meter() as meter:
                done = rename_tag(library, old, name, progress=lambda _: None)
            renames.append((name, meter.seconds / done.action.changed * 1e6))
            print(f"  renamed {old} to {name} on {done.action.changed:,}: {renames[-1][1]:.0f} microseconds an item")
        with Meter() as meter:
            undone = undo_tags(library, done.action.id, whole=True)[0].undone
        print(f"  undone on {undone:,}: {meter.seconds / undone * 1e6:.0f} microseconds an item")
        assert library.counts.faults() == []


@contextmanager
def place(postgres: bool) -> Iterator[str]:
    """Yield the address of an empty library."""
    if postgres:
        with postgres_server() as server:
            yield server.app
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / "library.db")


def main() -> None:
    """Measure one engine or both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--postgres", action="store_true", help="PostgreSQL instead of SQLite")
    chosen = parser.parse_args()
    print("PostgreSQL:" if chosen.postgres else "SQLite:")
    with place(chosen.postgres) as where:
        measure(where, chosen.items)


if __name__ == "__main__":
    main()
