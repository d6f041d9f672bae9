"""Two people, or two tabs, change one item at the same moment: both changes are there (Q7).

`python -m tests.hostile.tag_pairs [--full] [--engine sqlite|postgres]`: 1,000 pairs, each begun at a barrier by two processes with
their own connections. Each pair is two of: add a tag, remove a tag, pin, archive, write notes, save the page again with a tag,
rename a tag everywhere. The oracle knows what both together must leave.
"""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from typing import Any

from pagekeep.errors import PagekeepError
from pagekeep.library.items.change import change_item
from pagekeep.library.items.tags import rename_tag
from pagekeep.model import Item
from pagekeep.model.lists import ItemChange
from pagekeep.store import Store, open_store
from tests.hostile.store_places import FORK, USER, library_faults, run_script, start
from tests.store.making import make_item

KINDS = ("add", "remove", "pin", "archive", "notes", "save", "rename")
START = ("first", "Gone", "old name")
"""The tags of every item before its pair."""


def _kinds(pair: int) -> list[str]:
    """Return two kinds of change that do not touch the same value, except that both may add a tag."""
    chance = random.Random(pair)
    first = chance.choice(KINDS)
    return [first, "add" if first == "add" else chance.choice([kind for kind in KINDS if kind != first])]


def _change(library: Store, item: Item, kind: str, side: int) -> None:
    changes: dict[str, ItemChange] = {
        "add": ItemChange(add_tags=(f"Tág {side}",)),
        "remove": ItemChange(remove_tags=("gone",)),
        "pin": ItemChange(pinned=True),
        "archive": ItemChange(archived=True),
        "notes": ItemChange(notes="Mine"),
    }
    if kind == "save":
        library.items.save(replace(item, metadata=replace(item.metadata, tags=("saved",))), None)
    elif kind == "rename":
        rename_tag(library, f"old name {item.url}", f"new name {item.url}")
    else:
        change_item(library, item.id, changes[kind])


def _run_side(where: str, barrier: Barrier, errors: Any, side: int, ids: list[str]) -> None:
    with closing(open_store(where, USER)) as library:
        for pair, item_id in enumerate(ids):
            kind = _kinds(pair)[side]
            item = library.items.get(item_id)  # as a page that was loaded before
            barrier.wait()
            try:
                _change(library, item, kind, side)
            except PagekeepError as error:
                errors.put(f"pair {pair}, {kind}: {error.type}: {error.message}")


def _missing(item: Item, kind: str, side: int) -> bool:
    """Return whether a change of a pair is not there."""
    known = item.metadata
    expected = {
        "add": lambda: f"Tág {side}" in known.tags,
        "remove": lambda: "Gone" not in known.tags,
        "pin": lambda: known.pinned is True,
        "archive": lambda: known.archived is True,
        "notes": lambda: known.notes == "Mine",
        "save": lambda: "saved" in known.tags,
        "rename": lambda: f"new name {item.url}" in known.tags and f"old name {item.url}" not in known.tags,
    }
    return not expected[kind]()


def attack(where: str, pairs: int) -> list[str]:
    """This many pairs of changes, each of one item at once; return what is lost."""
    with closing(open_store(where, USER)) as library:
        made = [make_item(number, user_id=USER) for number in range(pairs)]
        ids = []
        for item in made:
            tags = (*START[:2], f"{START[2]} {item.url}")
            ids.append(library.items.save(replace(item, metadata=replace(item.metadata, tags=tags)), None).id)
    barrier, errors = FORK.Barrier(2), FORK.SimpleQueue()
    processes = [start(_run_side, where, barrier, errors, side, ids) for side in (0, 1)]
    for process in processes:
        process.join()
    faults = [f"a process ended with {process.exitcode}" for process in processes if process.exitcode]
    while not errors.empty():
        faults.append(errors.get())
    with closing(open_store(where, USER)) as library:
        for pair, item_id in enumerate(ids):
            item, kinds = library.items.get(item_id), _kinds(pair)
            faults += [
                f"pair {pair} {kinds}: {kind} is lost" for side, kind in enumerate(kinds) if _missing(item, kind, side)
            ]
            if "first" not in item.metadata.tags or ("remove" not in kinds and "Gone" not in item.metadata.tags):
                faults.append(f"pair {pair} {kinds}: a tag is lost that none removed")
        faults += library.counts.faults()
    return faults + library_faults(where)


if __name__ == "__main__":
    run_script(attack, 20, 1_000)
