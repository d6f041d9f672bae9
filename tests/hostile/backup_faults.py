"""Flipped bytes and kills in libraries and their backups, in both forms, with the known contents as the oracle (Q2).

No backup ends with exit code 0 that cannot be restored identically, and no good copy is replaced by a worse one.

`python -m tests.hostile.backup_faults [--full] [--engine sqlite|postgres]`
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from click.testing import CliRunner

from pagekeep.doors.cli.main import cli
from pagekeep.errors import PagekeepError
from pagekeep.model import Annotation, ItemBlob
from pagekeep.store import Store, open_store
from tests.hostile.store_places import USER, kill, run_script, start
from tests.store.making import NOW, make_item, make_raw

PAGES: Final = 12
FORMS: Final = ("folder", "file")


def add_page(library: Store, number: int) -> None:
    """Add a page with two versions, two kept files and a highlight, all of them its own."""
    mark = f"page {number} of {number % 3}"
    item = make_item(number, user_id=USER, title=mark, content=f"Words of {mark}, é and ü. " * 60, tags=["sea"])
    first = library.items.save(item, make_raw(f"<p>Old {mark}</p>".encode() * 40))
    stored = library.items.save(item, make_raw(f"<p>New {mark}</p>".encode() * 40), versions="add")
    picture = library.blobs.put(random.Random(number).randbytes(5_000), NOW)
    copy = library.blobs.put(f"<p>Copy of {mark}</p>".encode() * 200, NOW, compress=True)
    library.blobs.link(
        stored.id,
        [
            ItemBlob("picture", f"https://example.com/{number}.png", "kept", NOW, "image/png", picture, 5_000),
            ItemBlob("page_copy", item.url, "kept", NOW, "text/html", copy, 4_000),
        ],
    )
    note = Annotation(first.id[:-12] + f"{number:012}", stored.id, f"Words of {mark}", "", "", mark, None, NOW, NOW)
    library.annotations.put(note)


def contents(library: Store) -> dict[str, Any]:
    """Everything about every item, by its id; of an item that cannot be read, why."""
    found: dict[str, Any] = {}
    for item_id in sorted(library.items.all_ids()):
        try:
            links, versions = library.blobs.of_item(item_id), library.snapshots.list(item_id)
            found[item_id] = (
                replace(library.items.get(item_id), user_id=""),
                library.items.raw(item_id),
                [(version.hash, library.snapshots.raw(item_id, version.number)) for version in versions],
                links,
                [library.blobs.get(link.hash) for link in links if link.hash],
                library.annotations.of_item(item_id),
            )
        except PagekeepError as error:
            found[item_id] = error.message
    return found


@dataclass
class Place:
    """A library with a backup, and what must be in it."""

    where: str
    folder: Path
    form: str
    dice: random.Random
    counts: Counter[str]
    restored: int = 0

    @property
    def is_sqlite(self) -> bool:
        return not self.where.startswith("postgres")

    @property
    def target(self) -> Path:
        return self.folder / ("backup" if self.form == "folder" else "backup.db")

    def run(self, *arguments: str, where: str | None = None, user: str = USER) -> int:
        """Run a command and return its exit code."""
        done = CliRunner().invoke(
            cli,
            [*arguments, "--library", where or self.where, "--user", user],
            env={"PAGEKEEP_CONFIG": str(self.folder / "config.toml")},
        )
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code

    def back_up(self) -> int:
        return self.run("backup", f"{self.target}/" if self.form == "folder" else str(self.target))

    def known(self) -> dict[str, Any]:
        with closing(open_store(self.where, USER)) as library:
            return contents(library)

    @contextmanager
    def restore(self, *options: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Restore the backup to a new library; give the exit code and the contents."""
        self.restored += 1
        user = f"copy {self.restored} {self.form} of {os.getpid()} {self.dice.random()}"
        new = self.folder / "restored.db"
        for old in self.folder.glob("restored.db*"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        if not self.is_sqlite:
            where = self.where
        else:
            where, user = str(new), USER
        code = self.run("library", "restore", str(self.target), *options, where=where, user=user)
        if code == 2 and self.is_sqlite and not new.exists():
            yield code, {}
            return
        with closing(open_store(where, user)) as library:
            yield code, contents(library)

    def faults(self, what: str, known: dict[str, Any]) -> list[str]:
        """The backup must restore to the known contents."""
        with self.restore() as (code, found):
            if code:
                return [f"{self.form}: {what}: the restore ends with {code}"]
            if found != known:
                return [f"{self.form}: {what}: {_difference(found, known)}"]
        return []


def _difference(found: dict[str, Any], known: dict[str, Any]) -> str:
    wrong = [key for key in known.keys() | found.keys() if found.get(key) != known.get(key)]
    return f"{len(wrong)} of {len(known)} items are not as they were"


def flip(path: Path, dice: random.Random) -> None:
    """Change one bit of a file."""
    data = bytearray(path.read_bytes())
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    path.write_bytes(data)


@contextmanager
def damaged_row(place: Place, table: str, key: str, column: str) -> Iterator[None]:
    """Change one bit of a value in the library, and change it back at the end."""
    with closing(open_store(place.where, USER)) as library:
        engine = library._engine  # the store has no way to do this
        names = [
            row[0]
            for row in engine.read(
                lambda tx: tx.all(f"SELECT {key} FROM {table} WHERE user_id = :user ORDER BY {key}", user=USER)
            )
        ]
        name = place.dice.choice(names)
        where = f"WHERE user_id = :user AND {key} = :name"
        value = engine.read(lambda tx: tx.all(f"SELECT {column} FROM {table} {where}", user=USER, name=name))[0][0]
        data = bytearray(value.encode() if isinstance(value, str) else value)
        data[place.dice.randrange(len(data))] ^= 1 << place.dice.randrange(8)
        mark = ":value"
        changed: Any = bytes(data)
        if isinstance(value, str) and place.is_sqlite:
            mark = "CAST(:value AS TEXT)"  # SQLite stores bytes that are not UTF-8
        elif isinstance(value, str):
            changed = data.replace(b"\x00", b"?").decode("utf-8", "replace")

        def put(mark: str, value: Any) -> None:
            engine.write(
                lambda tx: tx.run(f"UPDATE {table} SET {column} = {mark} {where}", user=USER, name=name, value=value)
            )

        put(mark, changed)
    try:
        yield
    finally:
        with closing(open_store(place.where, USER)) as library:
            engine = library._engine
            put(":value", value)


@contextmanager
def damaged_file(folder: Path, dice: random.Random) -> Iterator[None]:
    """Change one bit of a file in a folder, or remove the file, and put it back at the end."""
    path = dice.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    whole = path.read_bytes()
    flip(path, dice) if dice.random() < 0.7 else path.unlink()
    try:
        yield
    finally:
        path.write_bytes(whole)


def damage_library(place: Place) -> Any:
    """One of the kinds of damage to the library."""
    kinds: dict[str, Callable[[], Any]] = {
        "text": lambda: damaged_row(place, "items", "id", "content"),
        "raw page or version": lambda: damaged_row(place, "raw_bodies", "hash", "body"),
        "kept file": lambda: (
            damaged_file(Path(f"{place.where}.blobs"), place.dice)
            if place.is_sqlite
            else damaged_row(place, "blobs", "hash", "body")
        ),
    }
    kind = place.dice.choice(sorted(kinds))
    place.counts[f"{place.form}: {kind} of the library"] += 1
    return kinds[kind]()


def damage_backup(place: Place) -> None:
    """Change one bit of one file of the backup, or remove a kept file or object."""
    target, dice = place.target, place.dice
    files = sorted(path for path in (target / "objects").rglob("*") if path.is_file())
    kept = sorted(path for path in Path(f"{target}.blobs").rglob("*") if path.is_file())
    if place.form == "file" and (not kept or dice.random() < 0.5):
        place.counts[f"{place.form}: the file"] += 1
        flip(target, dice)
        return
    place.counts[f"{place.form}: object or kept file"] += 1
    path = dice.choice(files or kept)
    flip(path, dice) if dice.random() < 0.8 else path.unlink()


def library_round(place: Place, known: dict[str, Any]) -> list[str]:
    """Damage the library and back it up: the backup must report it, and still have everything."""
    with damage_library(place):
        faults = _unreported(place, known)
    return faults + place.faults("after damage to the library", known)


def _unreported(place: Place, known: dict[str, Any]) -> list[str]:
    """Back up a damaged library, which must be reported; a few bits of compressed bytes mean nothing."""
    harmless = place.known() == known
    place.counts[f"{place.form}: harmless flips"] += harmless
    if place.back_up() == 0 and not harmless:
        return [f"{place.form}: damage to the library was backed up with exit code 0"]
    return []


def backup_round(place: Place, known: dict[str, Any]) -> list[str]:
    """Damage the backup: a restore finds it, a new backup mends it."""
    faults = []
    damage_backup(place)
    with place.restore() as (code, found):
        if code == 0 and found != known:
            faults.append(f"{place.form}: a damaged backup was restored with exit code 0: {_difference(found, known)}")
        damaged = code != 0
    with place.restore("--what-can-be") as (code, found):
        wrong = [key for key, value in known.items() if found.get(key) != value]
        place.counts[f"{place.form}: items not restored from damaged backups"] += len(wrong)
        place.counts[f"{place.form}: items restored from damaged backups"] += len(known) - len(wrong)
        if code == 0 and (wrong or damaged):
            faults.append(f"{place.form}: --what-can-be ends with 0, and {len(wrong)} items are not as they were")
    if place.back_up() != 0:
        faults.append(f"{place.form}: a damaged backup of a good library is not mended")
    return faults + place.faults("after damage to the backup", known)


def both_round(place: Place, known: dict[str, Any]) -> list[str]:
    """Damage both: exit code 0 only with everything in the backup."""
    faults = []
    with damage_library(place):
        damage_backup(place)
        faults += _unreported(place, known)
    with place.restore() as (code, found):
        if code == 0 and found != known:
            faults.append(f"{place.form}: a backup that is not complete was restored with exit code 0")
    if place.back_up() != 0:
        faults.append(f"{place.form}: a library that is good again is not backed up")
    return faults + place.faults("after damage to both", known)


@contextmanager
def counted_steps(last: int = 0) -> Iterator[list[int]]:
    """Count the steps at which a backup changes the disk; the process is killed before step `last`."""
    names, count = ("fsync", "replace", "unlink", "mkdir"), [0]
    own = {name: getattr(os, name) for name in names}

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            count[0] += 1
            if count[0] == last:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)

        return run

    for name in names:
        setattr(os, name, counted(own[name]))
    try:
        yield count
    finally:
        for name in names:
            setattr(os, name, own[name])


def _back_up_until(place: Place, step: int) -> None:
    with counted_steps(step):
        place.back_up()


@dataclass
class Kills:
    """When backups are killed: at a step, or at a time."""

    steps: int = 1
    seconds: float = 0.1

    def back_up(self, place: Place) -> None:
        """Make a whole backup, and note how long it takes."""
        began = time.monotonic()
        with counted_steps() as count:
            place.back_up()
        self.steps, self.seconds = max(self.steps, count[0]), time.monotonic() - began


def kill_round(place: Place, known: dict[str, Any], kills: Kills, number: int) -> list[str]:
    """Add a page, and kill the backup at a random step or moment: it has all pages, or those of before."""
    with closing(open_store(place.where, USER)) as library:
        add_page(library, number)
        now = contents(library)
    at_step = number % 2 == 0
    process = start(_back_up_until, place, place.dice.randint(1, kills.steps + 1) if at_step else 0)
    if at_step:
        process.join()
    else:
        time.sleep(place.dice.random() * kills.seconds * 1.5)
    kill(process)
    with place.restore() as (code, found):
        if code or found not in (known, now):
            return [f"{place.form}: killed: the restore ends with {code}, {_difference(found, now)}"]
        state = "new" if found == now else "earlier"
        place.counts[f"{place.form}: killed at a {'step' if at_step else 'time'}, {state} state"] += 1
    return []


def attack(where: str, count: int) -> list[str]:
    """This many kills and this many flips, for each form of a backup."""
    faults, counts = list[str](), Counter[str]()
    with closing(open_store(where, USER)) as library:
        for number in range(PAGES):
            add_page(library, number)
    number = PAGES
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "config.toml").write_text("# settings\n")
        for form in FORMS:
            place = Place(where, Path(name), form, random.Random(f"{form} {count}"), counts)
            place.back_up()
            known = place.known()
            faults += place.faults("the first backup", known)
            rounds = (library_round, backup_round, both_round)
            for turn in range(count):
                faults += rounds[turn % 3](place, known)
            with closing(open_store(where, USER)) as library:
                add_page(library, number)
            number, kills = number + 1, Kills()
            kills.back_up(place)
            known = place.known()
            for _ in range(count):
                faults += kill_round(place, known, kills, number)
                number += 1
                kills.back_up(place)
                known = place.known()
    print("\n".join(f"  {what}: {many}" for what, many in sorted(counts.items())))
    return faults


if __name__ == "__main__":
    run_script(attack, 30, 100)
