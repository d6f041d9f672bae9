"""Programs write, move and save mirrored files while the library changes and the mirror is killed: no edit is lost (J1).

`python -m tests.hostile.mirror_edits [--rounds 50] [--items 300] [--seed 1]`

In each round every file has one writer: one that empties the file and writes it 0.3 seconds later, one that writes in
pieces, one that moves the file and edits it there, or one that saves an old buffer again and again. After the round, every edit
is in the library or in a conflict copy, every item has one file, and there is no conflict copy without a conflict.
"""

from __future__ import annotations

import argparse
import heapq
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from pagekeep import clock
from pagekeep.errors import Outdated
from pagekeep.library.exports import markdown_files
from pagekeep.library.mirror.run import mirror, watch
from pagekeep.model import Item, NewItem
from pagekeep.store import Store, open_store
from tests.hostile.store_places import USER, all_items, kill, start
from tests.library.exports.making import make_item

KILLS: Final = 3
"""Kills of the mirror per round."""
GAP_SECONDS: Final = 0.3
"""Between emptying a file and writing it, as measured with sync clients."""
MAX_SETTLING: Final = 30
"""Runs of the mirror until nothing changes any more."""
_TAGS: Final = re.compile(r"^(tags: \[.*)\]$", re.MULTILINE)
_EDIT: Final = re.compile(r"^edit \d+-\d+-\d+$", re.MULTILINE)

Actions = Iterator[float]
"""Acts, and yields the seconds until it goes on."""


@dataclass
class Edits:
    """What the library must have after a round, by item id."""

    text: dict[str, str] = field(default_factory=dict)
    tags: dict[str, set[str]] = field(default_factory=dict)
    pinned: dict[str, bool] = field(default_factory=dict)


class Attack:
    """A library, its folder, and the writers of a round."""

    def __init__(self, where: str, folder: Path, items: int, seed: int) -> None:
        self.where, self.folder = where, folder
        self.chance = random.Random(seed)
        self.faults: list[str] = []
        self.edits = Edits()
        self.round = 0
        with closing(open_store(where, USER)) as store:
            entries = [NewItem(make_item(number, USER, tags=["sea"])) for number in range(items)]
            store.items.save_many(entries, lambda _old, new: new)
            mirror(store, folder)
        self.paths = self._find_files()

    def run_round(self, seconds: float) -> None:
        """Let all writers write and the library change, and look at the result."""
        self.round += 1
        self.edits = Edits()
        ids = list(self.paths)
        schedule: list[tuple[float, int, Actions]] = []
        writers: list[Callable[[str, int, float], Actions]] = [self._truncate, self._piecewise, self._move, self._save]
        for number, item_id in enumerate(ids):
            writer = self.chance.choice(writers)(item_id, number, seconds)
            schedule.append((self.chance.uniform(0, seconds / 2), number, writer))
        changes = self._change_library(ids, seconds)
        schedule.append((0, len(ids), changes))
        self._perform(schedule, seconds)
        self._settle()
        self._judge()

    def _perform(self, schedule: list[tuple[float, int, Actions]], seconds: float) -> None:
        """Run the actions in order of time beside a mirror that is killed a few times."""
        kills = sorted(self.chance.uniform(0, seconds) for _ in range(KILLS))
        began, process = time.monotonic(), self._start_mirror()
        heapq.heapify(schedule)
        while schedule:
            due, number, actions = heapq.heappop(schedule)
            time.sleep(max(0, began + due - time.monotonic()))
            if kills and due >= kills[0]:
                kills.pop(0)
                kill(process)
                process = self._start_mirror()
            pause = next(actions, None)
            if pause is not None:
                heapq.heappush(schedule, (due + pause, number, actions))
        kill(process)

    def _start_mirror(self) -> BaseProcess:
        return start(_watch, self.where, str(self.folder))

    def _settle(self) -> None:
        with closing(open_store(self.where, USER)) as store:
            for _ in range(MAX_SETTLING):
                report = mirror(store, self.folder)
                if not report.changed and not report.waiting:
                    return
        self.faults.append(f"round {self.round}: the mirror does not come to rest: {report}")

    # Writers

    def _edit(self, item_id: str, number: int, text: str, count: int) -> str:
        """Return the text with a line that names this edit, and a tag of this round."""
        line, tag = f"edit {self.round}-{number}-{count}", f"w{self.round}"
        self.edits.text[item_id] = line
        self.edits.tags.setdefault(item_id, set()).add(tag)
        text = _EDIT.sub("", text).rstrip("\n") + f"\n\n{line}\n"
        return text if f"{tag}]" in text else _TAGS.sub(rf"\1, {tag}]", text, count=1)

    def _read(self, item_id: str) -> str:
        return self.paths[item_id].read_text("utf-8")

    def _truncate(self, item_id: str, number: int, seconds: float) -> Actions:
        for count in range(2):
            text = self._edit(item_id, number, self._read(item_id), count)
            with self.paths[item_id].open("w", encoding="utf-8") as file:
                yield GAP_SECONDS
                file.write(text)
            yield self.chance.uniform(0, seconds / 2)

    def _piecewise(self, item_id: str, number: int, _seconds: float) -> Actions:
        text = self._edit(item_id, number, self._read(item_id), 0)
        cuts = sorted(self.chance.randrange(len(text)) for _ in range(3))
        with self.paths[item_id].open("w", encoding="utf-8") as file:
            for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
                file.write(text[begin:end])
                file.flush()
                yield GAP_SECONDS

    def _move(self, item_id: str, number: int, seconds: float) -> Actions:
        for count in range(3):
            target = self.folder / f"folder {self.chance.randrange(5)}" / f"{self.round} {number} {count}.md"
            target.parent.mkdir(exist_ok=True)
            self.paths[item_id] = self.paths[item_id].rename(target)
            yield self.chance.uniform(0, seconds / 4)
        yield from self._truncate(item_id, number, seconds)

    def _save(self, item_id: str, number: int, seconds: float) -> Actions:
        """Save a buffer that never sees what the mirror writes, in place or with an atomic replacement."""
        buffer, atomic = self._read(item_id), self.chance.random() < 0.5
        for count in range(self.chance.randrange(2, 8)):
            path = self.paths[item_id]
            draft = path.with_name(f".{path.name}.saving") if atomic else path
            buffer = self._edit(item_id, number, buffer, count)
            draft.write_text(buffer, "utf-8")
            if atomic:
                draft.replace(path)
            yield self.chance.uniform(0, seconds / 3)

    def _change_library(self, ids: list[str], seconds: float) -> Actions:
        """Add tags, and set and remove pins."""
        for _ in range(10):
            with closing(open_store(self.where, USER)) as store:
                for item_id in self.chance.sample(ids, max(1, len(ids) // 20)):
                    self._change_item(store, item_id)
            yield seconds / 10

    def _change_item(self, store: Store, item_id: str) -> None:
        tag, pinned = f"p{self.round}", self.chance.random() < 0.5
        while True:
            item = store.items.get(item_id)
            tags = tuple(dict.fromkeys((*item.metadata.tags, tag)))
            try:
                store.items.set_metadata(
                    item_id, clock.now(), unchanged_since=item.updated_at, tags=tags, pinned=pinned
                )
                break
            except Outdated:
                continue
        self.edits.tags.setdefault(item_id, set()).add(tag)
        self.edits.pinned[item_id] = pinned

    # The result

    def _find_files(self) -> dict[str, Path]:
        """Return the file of each item; more than one or none is a fault."""
        found: dict[str, list[Path]] = {}
        with closing(open_store(self.where, USER)) as store:
            ids = [item_id for item_id, _ in store.items.versions()]
        for path in self.folder.rglob("*.md"):
            if ".pagekeep" not in path.parts:
                found.setdefault(markdown_files.read(path.read_text("utf-8")).id or "", []).append(path)
        self.faults += [
            f"round {self.round}: item {item_id} has the files {[str(path) for path in found.get(item_id, [])]}"
            for item_id in ids
            if len(found.get(item_id, [])) != 1
        ]
        return {item_id: found[item_id][0] for item_id in ids if item_id in found}

    def _judge(self) -> None:
        self.paths = self._find_files()
        copies = {path: path.read_text("utf-8") for path in self.folder.rglob("*(conflict *).md")}
        with closing(open_store(self.where, USER)) as store:
            for item in all_items(store):
                self.faults += [
                    f"round {self.round}: {fault}" for fault in self._faults_of(item, list(copies.values()))
                ]
            self.faults += store.check()
        for path in copies:  # one user and one folder: there are no true conflicts
            self.faults.append(f"round {self.round}: conflict copy {path.name}")
            path.unlink()

    def _faults_of(self, item: Item, copies: list[str]) -> Iterator[str]:
        body = markdown_files.split_content(item)[1]
        line = self.edits.text.get(item.id)
        if line and line not in body and not any(line in copy for copy in copies):
            yield f"lost: {line}, the library has {_EDIT.findall(body)}"
        if any(markdown_files.read(copy).body.strip() == body.strip() for copy in copies):
            yield f"a copy equals its item {item.id}"
        lost = self.edits.tags.get(item.id, set()) - set(item.metadata.tags)
        if lost:
            yield f"lost tags {sorted(lost)} of {item.id}"
        if bool(item.metadata.pinned) != self.edits.pinned.get(item.id, bool(item.metadata.pinned)):
            yield f"wrong pin of {item.id}"
        if _EDIT.findall(self._read(item.id)) != _EDIT.findall(body):
            yield f"file and library differ: {item.id}"


def _watch(where: str, folder: str) -> None:
    with closing(open_store(where, USER)) as store:
        watch(store, Path(folder), "pagekeep", lambda _report: None, seconds=0.05, wait=_wait)


def _wait(seconds: float) -> Any:
    time.sleep(min(seconds, 0.2))
    return False


def attack(rounds: int, items: int, *, seed: int = 1, seconds: float = 5.0) -> list[str]:
    """Return the faults of this many rounds."""
    with tempfile.TemporaryDirectory() as place:
        one = Attack(str(Path(place) / "library.db"), Path(place) / "vault", items, seed)
        for _ in range(rounds):
            one.run_round(seconds)
        return one.faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--items", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    began = time.monotonic()
    faults = attack(chosen.rounds, chosen.items, seed=chosen.seed)
    print(f"{chosen.rounds} rounds of {chosen.items} items in {time.monotonic() - began:.0f} s, {len(faults)} faults")
    print("\n".join(faults[:50]))
    sys.exit(bool(faults))
