"""Backup folders are written while others write, and killed at random points: every complete state restores, whole (S5, K3).

`python -m tests.hostile.backup_folders [--full] [--engine sqlite|postgres]`
"""

from __future__ import annotations

import random
import tempfile
import time
from contextlib import closing
from pathlib import Path

from pagekeep import clock
from pagekeep.store import open_store
from pagekeep.store.backup import backup_folder
from tests.hostile.store_backup import ROOM, WRITERS, _contents, _one_state, _write
from tests.hostile.store_places import USER, kill, run_script, start


def _back_up(where: str, folder: Path) -> None:
    with closing(open_store(where, USER)) as library:
        library.backup_folder(folder, clock.now(), {"config.toml": b"# settings"})


def _restore(folder: Path, state: str | None, target: Path) -> list[str]:
    """The faults of a state, restored to a separate library."""
    about = backup_folder.read_state(folder, state)
    faults = backup_folder.check(folder, about)
    with closing(open_store(target, USER)) as copy:
        copy.restore_folder(folder, about)
        return faults + _one_state(copy)


def attack(where: str, count: int) -> list[str]:
    """This many backups under load, each killed at a random point but for some, and one at rest that must be equal."""
    open_store(where, USER).close()
    dice, faults = random.Random(count), list[str]()
    writers = [start(_write, where, writer * ROOM) for writer in range(WRITERS)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "backup"
        try:
            time.sleep(0.5)
            _back_up(where, folder)
            began = time.monotonic()
            _back_up(where, folder)
            usual = time.monotonic() - began
            for _ in range(count):
                process = start(_back_up, where, folder)
                time.sleep(dice.random() * usual * 1.2)
                kill(process)
        finally:
            for writer in writers:
                kill(writer)
        complete = backup_folder.states(folder)
        for number, state in enumerate(dice.sample(complete, min(3, len(complete)))):
            faults += _restore(folder, state, Path(name) / f"copy{number}.db")
        for state in complete:
            faults += backup_folder.check(folder, backup_folder.read_state(folder, state))
        _back_up(where, folder)
        with closing(open_store(where, USER)) as library, closing(open_store(Path(name) / "last.db", USER)) as copy:
            copy.restore_folder(folder, backup_folder.read_state(folder))
            if _contents(copy) != _contents(library):
                faults.append("the backup differs from the library")
            if library.backup_folder(folder, clock.now(), {"config.toml": b"# settings"}).added:
                faults.append("a backup without changes added objects")
        print(f"{len(complete)} of {count + 2} backups were complete")
    return faults


if __name__ == "__main__":
    run_script(attack, 5, 60)
