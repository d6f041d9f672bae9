"""Create, replace and remove files of the folder without losing what another program writes to them at the same time.

Nothing is overwritten or deleted. A file is exchanged with its replacement, or moved away, into a slot in `.pagekeep/replaced`,
where it is compared with what was read: if an editor has saved in the last moment, its file goes back to its place. What is in
a slot stays for a minute. A program that had opened the file before writes into the slot, whose name says what was in the
file: the next passes find the edit there, also after a crash in the middle.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Iterator, Set
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Final

from pagekeep.library.mirror import folder as files
from pagekeep.library.mirror import folder as renaming
from pagekeep.library.mirror.folder import FileContent, FileStat
from pagekeep.library.mirror.records import FOLDER

_DRAFT: Final = "new.part"
_REPLACED: Final = "replaced"
_KEEP_NS: Final = 60_000_000_000
"""How long a replaced file is kept: sync clients and network disks finish a write within seconds."""
_MAX_RETURNS: Final = 20
"""How often an editor may save again while its file goes back to its place, which takes some microseconds."""
_NAME: Final = re.compile(
    r"(?P<id>[\w-]+)\.(?:[0-9a-f]{32}\.)?"  # earlier versions had a digest here
    r"(?P<size>\d+)\.(?P<mtime>\d+)\.(?P<time>[0-9a-f]+)(?:\.(?P<draft>\d+))?"
)


def create(folder: Path, path: str, data: bytes) -> bool:
    """Write a new file; return false when a file of this name exists."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)

    def put(place: Path) -> bool:
        draft = _write_draft(place, data)
        try:
            return _fill(draft, target)
        finally:
            draft.unlink(missing_ok=True)

    return _on_its_disk(folder, target, put)


def replace(folder: Path, item_id: str, old: FileContent, data: bytes) -> bool:
    """Replace a file; return false, with the file in its place, when it is no longer as it was read."""
    target = folder / old.stat.path

    def put(place: Path) -> bool:
        draft = _write_draft(place, data)
        try:
            return _is_unchanged(target, old) and swap(draft, target, item_id, old)
        except FileNotFoundError:  # the file or its folder was moved
            return False
        finally:
            draft.unlink(missing_ok=True)

    return _on_its_disk(folder, target, put)


def remove(folder: Path, item_id: str, old: FileContent) -> bool:
    """Remove a file; return false, with the file in its place, when it is no longer as it was read."""
    target = folder / old.stat.path

    def put(place: Path) -> bool:
        try:
            return _is_unchanged(target, old) and _set_aside(target, _make_slot(place, item_id, old.stat), item_id, old)
        except FileNotFoundError:
            return False

    return _on_its_disk(folder, target, put)


def swap(draft: Path, target: Path, item_id: str, old: FileContent) -> bool:
    """Put the draft in the place of the file; return false, with the file in its place, when it is not as it was read."""
    place, ours = draft.parent, _stat(draft)
    # The draft gets the slot's name before the exchange: whenever a crash comes, what was exchanged has the right name.
    # It replaces an empty file: ext4 stores a file's text before the rename only when that replaces a file.
    slot = _make_slot(place, item_id, old.stat, ours.inode)
    slot.touch()
    os.replace(draft, slot)
    try:
        exchanged = renaming.exchange(target, slot)
    except OSError:
        os.rename(slot, draft)
        raise
    if not exchanged:
        os.rename(slot, draft)
        return _set_aside(target, slot, item_id, old) and _fill(draft, target)
    if _is_unchanged(slot, old):
        return True
    known = _put_back(slot, target, ours)
    with suppress(FileNotFoundError):
        _rename_slot(slot, item_id, known or old.stat)
    return False


def _put_back(slot: Path, target: Path, ours: FileStat) -> FileStat | None:
    """Return the file in the slot to its place, where our own file is now; return what is in the slot then, if it is known.

    An editor may save again meanwhile, over the file that is in place or into it. The newer text comes out, and goes back in
    the same way. Known is a file that came out as it went in, so that the one in place is newer.
    """
    placed = ours
    with ExitStack() as opened:
        for number in range(_MAX_RETURNS):
            following = _stat(slot)
            with suppress(OSError):  # while it is open, no other file gets its inode
                opened.callback(os.close, os.open(slot, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK))
            try:
                renaming.exchange(target, slot)
                found = _stat(slot)
                if found.inode == placed.inode and found == placed:
                    return found
                if number and found.inode == placed.inode and found.mtime <= _stat(target).mtime:
                    return None  # written to, but perhaps before it went in
            except FileNotFoundError:  # the file in place was moved or removed meanwhile
                with suppress(FileExistsError):
                    renaming.move_to_free_name(slot, target)
                return None
            placed = following
    return None


def _set_aside(target: Path, slot: Path, item_id: str, old: FileContent) -> bool:
    """Move a file to a slot; return false when it is not as it was read, with the file in its place.

    Where the file system has no way to move a file only to a free name, it stays in the slot, from where the next pass takes
    the edit.
    """
    os.rename(target, slot)
    found = _stat(slot)
    if _is_unchanged(slot, old):
        return True
    try:
        renaming.move_to_free_name(slot, target)
    except FileExistsError:  # the editor has saved again: that file is newer
        _rename_slot(slot, item_id, found)
    return False


def _fill(draft: Path, target: Path) -> bool:
    """Move a draft to its place; return false when there is a file already."""
    try:
        if not renaming.move_to_free_name(draft, target):
            _write_new(target, draft.read_bytes())
    except FileExistsError:
        return False
    return True


def _write_new(target: Path, data: bytes) -> None:
    with target.open("xb") as file:
        try:
            file.write(data)
            file.flush()
        except OSError:  # a full disk: a part of the text would look like an edit
            target.unlink(missing_ok=True)
            raise


@dataclass(frozen=True, slots=True)
class ReplacedFile:
    """A file that the mirror replaced or removed a short time ago."""

    path: Path
    item_id: str
    stat: FileStat
    changed: bool
    """Whether a program has written to it since."""
    expired: bool


def list_replaced(folder: Path, parents: Set[str], now: int) -> list[ReplacedFile]:
    """Return the replaced files, oldest edit first; `parents` are the folders of the mirror's files, within `folder`."""
    places = {folder, *(folder / parent for parent in parents)}
    found = [one for place in places for one in _list_slots(folder, place / FOLDER / _REPLACED, now)]
    return sorted(found, key=lambda one: one.stat.mtime)


def keep_replaced(replaced: ReplacedFile, file: FileContent) -> None:
    """Note that the present content of a replaced file has been handled."""
    _rename_slot(replaced.path, replaced.item_id, file.stat)


def move_out(replaced: ReplacedFile, name: str) -> bool:
    """Give a replaced file another name; return false when it is taken."""
    done = _fill(replaced.path, replaced.path.parents[2] / name)
    if done:
        replaced.path.unlink(missing_ok=True)
    return done


def _list_slots(folder: Path, slots: Path, now: int) -> Iterator[ReplacedFile]:
    with suppress(FileNotFoundError):
        for path in slots.iterdir():
            name, info = _NAME.fullmatch(path.name), path.lstat()
            if name is None or not S_ISREG(info.st_mode):
                continue
            stat = FileStat(path.relative_to(folder).as_posix(), info.st_size, info.st_mtime_ns, info.st_ino)
            # A draft that a crash left before the exchange is not an edit.
            is_draft = name["draft"] is not None and int(name["draft"]) == stat.inode
            changed = not is_draft and (stat.size, stat.mtime) != (int(name["size"]), int(name["mtime"]))
            expired = now - max(int(name["time"], 16), info.st_ctime_ns, stat.mtime) > _KEEP_NS
            yield ReplacedFile(path, name["id"], stat, changed, expired)


def _make_slot(place: Path, item_id: str, stat: FileStat, draft: int | None = None) -> Path:
    """Return a new path whose name says which content of the file is known, and which inode is that of a draft."""
    slots = place / _REPLACED
    slots.mkdir(exist_ok=True)
    name = f"{item_id}.{stat.size}.{stat.mtime}.{time.time_ns():x}"
    return slots / (name if draft is None else f"{name}.{draft}")


def _rename_slot(slot: Path, item_id: str, known: FileStat) -> None:
    """Note which content of the file in a slot is known: any other is an edit."""
    os.rename(slot, _make_slot(slot.parent.parent, item_id, known))


def _write_draft(place: Path, data: bytes) -> Path:
    draft = place / _DRAFT
    draft.unlink(missing_ok=True)  # a crash may have left it linked to a file
    draft.write_bytes(data)
    return draft


def _on_its_disk(folder: Path, target: Path, put: Callable[[Path], bool]) -> bool:
    """Call `put` with the mirror's own folder, or with one beside the file if that is on another disk."""
    try:
        return put(folder / FOLDER)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    place = target.parent / FOLDER
    place.mkdir(exist_ok=True)
    return put(place)


def _stat(path: Path) -> FileStat:
    stat = path.lstat()
    return FileStat("", stat.st_size, stat.st_mtime_ns, stat.st_ino)


def _is_unchanged(path: Path, old: FileContent) -> bool:
    """Return whether the file has the size, time and content that it had when it was read."""
    stat = path.lstat()
    if (stat.st_size, stat.st_mtime_ns) != (old.stat.size, old.stat.mtime) or not S_ISREG(stat.st_mode):
        return False
    return files.digest(path.read_bytes()) == old.digest
