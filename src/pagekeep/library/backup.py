"""Back up the library with its kept files and the settings, and restore them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagekeep import clock
from pagekeep.config import Settings, rules_folder, settings_path, split_foreign
from pagekeep.errors import Conflict, NotFound, StoreError
from pagekeep.library.open import library_path, open_library, repair
from pagekeep.private_files import make_folder, private
from pagekeep.store import Store
from pagekeep.store.backup import backup_folder, library_file
from pagekeep.store.backup.backup_folder import FolderReport
from pagekeep.store.backup.damage import BackupReport
from pagekeep.store.backup.restoring import refuse_damaged

__all__ = ["BackupReport", "FolderReport", "Restored", "back_up_file", "back_up_folder", "check_folder", "restore"]

_CONFIG: Final = "config.toml"
_RULES: Final = "rules/"
_SQLITE: Final = b"SQLite format 3\x00"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored."""

    items: int
    settings: tuple[str, ...] = ()
    """Files of the settings that were written."""
    different: tuple[str, ...] = ()
    """Files of the settings that exist here with other content, and were left as they are."""
    unconfirmed: tuple[str, ...] = ()
    """Settings that are switched off until the owner confirms them, because they could do harm: see `split_foreign`."""
    left_out: tuple[str, ...] = ()
    """What is missing or damaged in the backup, and was not restored, or not as it was."""


def back_up_file(store: Store, path: Path) -> BackupReport:
    """Write a consistent copy of the library to one file, with its kept files beside it, in place of an earlier one."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise NotFound(f"There is no folder {folder} for the backup.", suggestions=("Create it first.",))
    if path.is_dir():
        raise Conflict(f"{path} is a folder.", suggestions=("Name a file, or leave out `--single-file`.",))
    return store.backup(str(path))


def back_up_folder(store: Store, settings: Settings, folder: Path) -> FolderReport:
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


def restore(settings: Settings, backup: Path, state: str | None = None, *, what_can_be: bool = False) -> Restored:
    """Restore a backup into the library of the settings, which must be empty; the backup is checked before.

    A damaged one is refused with a list of what is missing or damaged; with `what_can_be`, everything else is restored.
    """
    if not backup.exists():
        raise NotFound(f"There is no backup {backup}.", suggestions=("Check the path.",))
    if backup.is_dir():
        return _restore_folder(settings, backup, state, what_can_be=what_can_be)
    with backup.open("rb") as file:
        start = file.read(len(_SQLITE))
    if start.startswith(_ZSTD) or (start != _SQLITE and library_path(settings) is None):
        return _restore_dump(settings, backup, what_can_be=what_can_be)
    return _restore_sqlite(settings, backup, what_can_be=what_can_be)


def _restore_folder(settings: Settings, folder: Path, name: str | None, *, what_can_be: bool) -> Restored:
    state = backup_folder.read_state(folder, name)
    faults = backup_folder.check(folder, state)
    if faults and not what_can_be:
        refuse_damaged(faults)
    with closing(open_library(settings)) as store:
        restored = store.restore_folder(folder, state, what_can_be=what_can_be)
    written, different, left_out = [], [], list(restored.left_out)
    unconfirmed: tuple[str, ...] = ()
    for entry, path in _setting_files(settings, tuple(state["files"])).items():
        try:
            data = backup_folder.read_object(folder, state["files"][entry])
        except StoreError:
            left_out.append(f"The file {entry} of the settings is missing or damaged.")
            continue
        if path.exists():
            if path.read_bytes() != data:
                different.append(str(path))
            continue
        if entry == _CONFIG:  # the maker of a backup must not decide what this machine runs
            text, unconfirmed = split_foreign(data)
            data = text.encode()
        make_folder(path.parent)
        with open(path, "wb", opener=private) as file:
            file.write(data)
        written.append(str(path))
    return Restored(restored.items, tuple(written), tuple(different), unconfirmed, tuple(left_out))


def _restore_sqlite(settings: Settings, backup: Path, *, what_can_be: bool) -> Restored:
    """Copy a backup that is itself a library, with the kept files beside it; what is damaged is repaired on the way."""
    target = library_path(settings)
    if target is None:
        raise Conflict(
            "This backup is a library in a file, and the setting `library` names a database server.",
            suggestions=("Restore it to a file, and export from there; or use a backup folder.",),
        )
    if target.exists():
        raise Conflict(f"{target} exists already.", suggestions=("Choose another path.",))
    log = backup.with_name(f"{backup.name}-wal")
    if log.exists() and log.stat().st_size:
        raise Conflict(f"{backup} is in use as a library.", suggestions=("Back it up, and restore that.",))
    make_folder(target.parent)
    faults = library_file.check(backup)
    if faults and not what_can_be:
        refuse_damaged(faults)
    if faults:
        saved = repair(backup, target)
        lost = [f"The item {lost['id']} is lost." for lost in saved.lost_items.values()]
        return Restored(saved.saved["items"], left_out=(*lost, *(saved.notes or faults)))
    library_file.restore(backup, target)
    with closing(open_library(settings)) as store:
        return Restored(sum(1 for _ in store.items.all_ids()))


def _restore_dump(settings: Settings, backup: Path, *, what_can_be: bool) -> Restored:
    """Restore a file that `backup --single-file` wrote from a library on PostgreSQL."""
    if library_path(settings) is not None:
        raise Conflict(
            "This backup is from a database server, and the setting `library` names a file.",
            suggestions=("Restore it to a postgresql:// address, or use a backup folder, which fits both.",),
        )
    from pagekeep.store import postgres

    restored = postgres.restore(str(settings.library), str(backup), settings.user, what_can_be=what_can_be)
    return Restored(restored.items, left_out=tuple(restored.left_out))
