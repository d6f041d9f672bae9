"""Back up the library with its kept files and the settings, and restore them."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagekeep import clock
from pagekeep.config import Settings, rules_folder, settings_path
from pagekeep.errors import Conflict, NotFound, StoreError
from pagekeep.library.open import library_path, open_library
from pagekeep.store import Store
from pagekeep.store.backup import backup_folder
from pagekeep.store.backup.backup_folder import BackupReport

__all__ = ["BackupReport", "Restored", "back_up_folder", "check_folder", "restore"]

_CONFIG: Final = "config.toml"
_RULES: Final = "rules/"
_SQLITE: Final = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored."""

    items: int
    settings: tuple[str, ...] = ()
    """Files of the settings that were written."""
    different: tuple[str, ...] = ()
    """Files of the settings that exist here with other content, and were left as they are."""
    damaged: tuple[str, ...] = ()
    """Hashes of raw pages and kept files that were missing or damaged when the backup was made."""


def back_up_folder(store: Store, settings: Settings, folder: Path) -> BackupReport:
    """Add the library as it is now to a backup folder, with kept files, settings and rules; only what is new is written."""
    files = {name: path.read_bytes() for name, path in _setting_files(settings).items() if path.is_file()}
    return store.backup_folder(folder, clock.now(), files)


def _setting_files(settings: Settings, names: tuple[str, ...] | None = None) -> Mapping[str, Path]:
    """Return where the files of the settings are: those that exist, or those of a backup."""
    rules = rules_folder(settings)
    own = (_CONFIG, *(f"{_RULES}{path.name}" for path in sorted(rules.glob("*.yaml"))))
    found = own if names is None else names  # a backup without settings has none to restore
    return {
        name: settings_path() if name == _CONFIG else rules / Path(name).name
        for name in found
        if name == _CONFIG or name.startswith(_RULES)
    }


def check_folder(folder: Path, state: str | None = None) -> list[str]:
    """Return what is missing or damaged in a state of a backup folder, by default the newest."""
    return backup_folder.check(folder, backup_folder.read_state(folder, state))


def restore(settings: Settings, backup: Path, state: str | None = None) -> Restored:
    """Restore a backup into the library of the settings, which must be empty; the backup is checked before."""
    if not backup.exists():
        raise NotFound(f"There is no backup {backup}.", suggestions=("Check the path.",))
    if backup.is_dir():
        return _restore_folder(settings, backup, state)
    with backup.open("rb") as file:
        is_sqlite = file.read(len(_SQLITE)) == _SQLITE
    return _restore_sqlite(settings, backup) if is_sqlite else _restore_dump(settings, backup)


def _restore_folder(settings: Settings, folder: Path, name: str | None) -> Restored:
    state = backup_folder.read_state(folder, name)
    faults = backup_folder.check(folder, state)
    if faults:
        raise StoreError(
            f"The backup is damaged, so nothing was restored. The first fault: {faults[0]}",
            suggestions=("Use an earlier state, or another copy of the backup.",),
        )
    with closing(open_library(settings)) as store:
        items = store.restore_folder(folder, state)
    written, different = [], []
    for entry, path in _setting_files(settings, tuple(state["files"])).items():
        data = backup_folder.read_object(folder, state["files"][entry])
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            written.append(str(path))
        elif path.read_bytes() != data:
            different.append(str(path))
    return Restored(items, tuple(written), tuple(different), tuple(state["damaged"]))


def _restore_sqlite(settings: Settings, backup: Path) -> Restored:
    """Copy a backup that is itself a library, with the kept files beside it."""
    target = library_path(settings)
    if target is None:
        raise Conflict(
            "This backup is a library in a file, and the setting `library` names a database server.",
            suggestions=("Restore it to a file, and export from there; or use a backup folder.",),
        )
    if target.exists():
        raise Conflict(f"{target} exists already.", suggestions=("Choose another path.",))
    if backup.with_name(f"{backup.name}-wal").exists():
        raise Conflict(f"{backup} is in use as a library.", suggestions=("Back it up, and restore that.",))
    target.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(f"{backup.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        faults = [text for (text,) in connection.execute("PRAGMA integrity_check(1)") if text != "ok"]
    if faults:
        raise StoreError(
            f"The backup is damaged: {faults[0]:.200}",
            suggestions=(f"`pagekeep repair {backup}` saves what can be read.",),
        )
    draft = target.with_name(f".{target.name}.part")
    try:
        shutil.copyfile(backup, draft)
        kept = backup.with_name(f"{backup.name}.blobs")
        if kept.is_dir():
            shutil.copytree(kept, target.with_name(f"{target.name}.blobs"), dirs_exist_ok=True)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    with closing(open_library(settings)) as store:
        return Restored(sum(1 for _ in store.all_ids()))


def _restore_dump(settings: Settings, backup: Path) -> Restored:
    """Restore a file that `backup FILE` wrote from a library on PostgreSQL."""
    if library_path(settings) is not None:
        raise Conflict(
            "This backup is from a database server, and the setting `library` names a file.",
            suggestions=("Restore it to a postgresql:// address, or use a backup folder, which fits both.",),
        )
    from pagekeep.store import postgres

    postgres.restore(str(settings.library), str(backup), settings.user)
    with closing(open_library(settings)) as store:
        return Restored(sum(1 for _ in store.all_ids()))
