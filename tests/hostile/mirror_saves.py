"""Editors save a mirrored file in the moment in which the mirror replaces or removes it: no text is lost (Q3).

`python -m tests.hostile.mirror_saves [--full] [--seed 1]`: 500 instead of 20 atomic saves, and a fifth of the other attacks.

Aimed: the mirror runs in this process, and at every step of a replacement (before and after each rename) the editor may save, by
a temporary file and a rename, in place at once, in place slowly, or with a backup as vim does. With the exchange of two
files, and as on file systems that have none, or neither that nor hard links. Killed: the mirror ends at one of the steps. Free: it
runs in its own process and nothing holds it up.

Afterwards the last text that the editor saved is in the library, or for a deleted item in the folder; the file and the library
are the same, and there is no conflict copy, because there is no conflict; only when an editor writes in place several times within
one replacement, both texts may be kept.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final
from unittest import mock

from pagekeep import clock
from pagekeep.library.exports import markdown_files
from pagekeep.library.mirror import writing
from pagekeep.library.mirror.run import run_pass
from pagekeep.model import NewItem
from pagekeep.store import Store, open_store
from tests.hostile.store_places import FORK, USER, start
from tests.library.exports.making import make_item
from tests.library.mirror.editors import KINDS, SYSTEMS, Editor, in_every_gap, later

MAX_SETTLING: Final = 10
ITEMS: Final = 6


class Attack:
    """A library, its folder, and the faults found so far."""

    def __init__(self, where: str, folder: Path, items: int, seed: int) -> None:
        self.where, self.folder, self.chance = where, folder, random.Random(seed)
        self.faults: list[str] = []
        self.saves = self.in_gap = self.copies = 0
        with closing(open_store(where, USER)) as store:
            store.items.save_many(
                [NewItem(make_item(n, USER, tags=["sea"])) for n in range(items)], lambda _old, new: new
            )
            run_pass(store, folder, now=later)
            self.ids = sorted(item_id for item_id, _ in store.items.versions())

    def file(self, item_id: str) -> Path:
        (path,) = [path for path in self._texts() if f"id: {item_id}\n" in path.read_text("utf-8").replace('"', "")]
        return path

    def aim(self, store: Store, number: int, kind: str) -> None:
        """Change an item, and save its file while the mirror replaces it; look at the result."""
        item_id = self.ids[number % len(self.ids)]
        editor = Editor(self.file(item_id), str(number), kind)
        store.items.set_metadata(item_id, clock.now(), tags=("sea", f"t{number}"))
        self._run_beside(store, editor, 4)
        for _ in range(MAX_SETTLING):
            report = run_pass(store, self.folder, now=later)
            if not report.changed and not report.waiting:
                break
        else:
            self.faults.append(f"{number} {kind}: does not come to rest: {report}")
        self._judge(store, item_id, editor)

    def aim_at_removal(self, store: Store, number: int, kind: str) -> None:
        """Delete an item, and save its file while the mirror removes it; look at the result."""
        item_id = self.ids[number % len(self.ids)]
        editor = Editor(self.file(item_id), f"r{number}", kind)
        store.items.delete(item_id, clock.now())
        self._run_beside(store, editor, 2)
        for _ in range(3):
            run_pass(store, self.folder, now=later)
        if not any(editor.line in path.read_text("utf-8") for path in self._texts()):
            self.faults.append(f"{number} {kind}, removed: lost {editor.line}")
        for path in self._texts():
            if editor.line in path.read_text("utf-8"):
                path.unlink()
        store.items.restore(item_id, clock.now())
        run_pass(store, self.folder, now=later)

    def _run_beside(self, store: Store, editor: Editor, gaps: int) -> None:
        """Run a pass in which the editor saves in one of the first gaps, and perhaps again while its file goes back."""
        first, seen = self.chance.randrange(gaps), 0
        wanted = {first, *(first + self.chance.randrange(6) for _ in range(self.chance.randrange(3)))}

        def act(_step: str) -> None:
            nonlocal seen
            if seen in wanted:
                editor.save()
                self.in_gap += 1
            seen += 1

        with in_every_gap(act):
            run_pass(store, self.folder, now=later)
        editor.finish()
        self.saves += editor.saves

    def run_free(self, count: int) -> None:
        """Save files beside a mirror that nothing holds up, each again when the library has its last text."""
        paths = {item_id: self.file(item_id) for item_id in self.ids}
        stop, passes, in_gap = FORK.Event(), FORK.Value("i", 0), FORK.Value("i", 0)
        process = start(_mirror_until, self.where, str(self.folder), stop, passes, in_gap)
        with closing(open_store(self.where, USER)) as store:
            waiting: dict[str, tuple[Editor, int]] = {}
            while (self.saves < count or waiting) and process.is_alive():
                for item_id in self.ids:
                    if item_id not in waiting and self.saves < count:
                        editor = _open(paths[item_id], f"f{self.saves}")
                        time.sleep(self.chance.uniform(0, 0.002))  # a random moment of the pass
                        editor.save()
                        self.saves += 1
                        waiting[item_id] = editor, passes.value
                for item_id, (editor, began) in list(waiting.items()):
                    if editor.line in store.items.get(item_id).content:
                        del waiting[item_id]
                    elif passes.value > began + MAX_SETTLING:
                        self.faults.append(f"{editor.name}: lost {editor.line}")
                        del waiting[item_id]
        stop.set()
        process.join()
        if process.exitcode:
            self.faults.append(f"the mirror ended with {process.exitcode}")
        self.in_gap = in_gap.value
        self.faults += [path.name for path in self._texts() if "(conflict " in path.name]

    def run_killed(self, number: int, kind: str) -> None:
        """Kill the mirror at a step of a replacement, after a save or without one; look at the result."""
        item_id = self.ids[number % len(self.ids)]
        editor = Editor(self.file(item_id), f"k{number}", kind)
        save_at, kill_at = self.chance.randrange(6), self.chance.randrange(8)
        with closing(open_store(self.where, USER)) as store:
            store.items.set_metadata(item_id, clock.now(), tags=("sea", f"k{number}"))
        process = start(_mirror_and_die, self.where, self.folder, editor, save_at, kill_at)
        process.join()
        if saved := save_at <= kill_at:
            editor.saves = 1  # by the process that was killed
            self.saves += 1
        self.in_gap += bool(process.exitcode)
        with closing(open_store(self.where, USER)) as store:
            while run_pass(store, self.folder, now=later).changed:
                pass
            if saved:
                self._judge(store, item_id, editor)
            elif f"k{number}" not in self.file(item_id).read_text("utf-8"):
                self.faults.append(f"{number}, killed: not written")

    def _judge(self, store: Store, item_id: str, editor: Editor) -> None:
        body = markdown_files.split_content(store.items.get(item_id))[1]
        text = self.file(item_id).read_text("utf-8")
        copies = {path: path.read_text("utf-8") for path in self._texts() if "(conflict " in path.name}
        # After two writes in place within microseconds, the times of two files may not say which text is the last.
        is_tie = editor.saves > 1 and editor.kind in ("at once", "slow")
        what = f"{editor.name} {editor.kind}"
        if editor.line not in body.splitlines() and not (is_tie and editor.line in "\n".join(copies.values())):
            self.faults.append(f"{what}: lost {editor.line}")
        if markdown_files.read(text).body.strip() != body.strip():
            self.faults.append(f"{what}: file and library differ")
        for path in copies:
            self.copies += is_tie
            self.faults += [] if is_tie else [f"{what}: {path.name}"]
            path.unlink()

    def _texts(self) -> list[Path]:
        return [path for path in self.folder.rglob("*.md") if ".pagekeep" not in path.parts]


def _open(path: Path, name: str) -> Editor:
    """Open a file, which is missing for a moment where two files cannot be exchanged."""
    while True:
        with suppress(FileNotFoundError):
            return Editor(path, name, "atomic")


def _mirror_and_die(where: str, folder: Path, editor: Editor, save_at: int, kill_at: int) -> None:
    """Run a pass; save before one step, and end before another without cleaning up."""
    step = 0

    def act(_name: str) -> None:
        nonlocal step
        if step == save_at:
            editor.save()
        if step == kill_at:
            os._exit(9)
        step += 1

    with closing(open_store(where, USER)) as store, in_every_gap(act):
        run_pass(store, folder, now=later)
    if not editor.saves and save_at <= kill_at:
        editor.save()


def _mirror_until(where: str, folder: str, stop: Any, passes: Any, in_gap: Any) -> None:
    """Change every item and write it, until it is stopped; count the files that changed in the last moment."""
    swap = writing.swap

    def count(*arguments: Any) -> Any:
        done = swap(*arguments)
        in_gap.value += not done
        return done

    with closing(open_store(where, USER)) as store, mock.patch.object(writing, "swap", count):
        while not stop.is_set():
            for item_id, _ in store.items.versions():
                store.items.set_metadata(item_id, clock.now(), tags=("sea", f"p{passes.value}"))
            run_pass(store, Path(folder), now=later)
            passes.value += 1


def attack(count: int, *, seed: int = 1) -> Iterator[tuple[str, list[str]]]:
    """Yield what was done, and its faults; `count` atomic saves of each kind, and a fifth of the other attacks."""
    for system, settings in SYSTEMS.items():
        for name, run in ATTACKS.items():
            times = count if name in FULL else max(2, count // 5)
            with tempfile.TemporaryDirectory() as place, settings():
                one = Attack(f"{place}/library.db", Path(place) / "vault", ITEMS, seed)
                run(one, times)
            yield (
                f"{system}, {name}: {times} times, {one.saves} saves, {one.in_gap} in a gap, {one.copies} copies",
                one.faults,
            )


def _aimed(kind: str, method: Callable[[Attack, Store, int, str], None]) -> Callable[[Attack, int], None]:
    def run(one: Attack, count: int) -> None:
        with closing(open_store(one.where, USER)) as store:
            for number in range(count):
                method(one, store, number, kind)

    return run


def _killed(one: Attack, count: int) -> None:
    for number in range(count):
        one.run_killed(number, ("atomic", "at once", "backup")[number % 3])


ATTACKS: Final[dict[str, Callable[[Attack, int], None]]] = {
    **{f"{kind}, replaced": _aimed(kind, Attack.aim) for kind in KINDS},
    **{f"{kind}, removed": _aimed(kind, Attack.aim_at_removal) for kind in KINDS},
    "killed": _killed,
    "free": Attack.run_free,
}
FULL: Final = ("atomic, replaced", "atomic, removed", "free")


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", help="500 instead of 20 of each")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    began, faults = time.monotonic(), list[str]()
    for result, found in attack(500 if chosen.full else 20, seed=chosen.seed):
        print(f"{result}, {len(found)} faults", *found[:20], sep="\n", flush=True)
        faults += found
    print(f"{time.monotonic() - began:.0f} s, {len(faults)} faults")
    sys.exit(bool(faults))
