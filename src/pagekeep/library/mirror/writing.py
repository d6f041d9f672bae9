"""Create, replace and remove files of the folder without losing what another program writes to them at the same time.

A replaced file stays for a minute as a hard link in `.pagekeep/replaced/`. A program that had opened it just before writes into
that link: the next passes find the edit there.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import re
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagekeep.library.mirror import folder as files
from pagekeep.library.mirror.folder import FileContent, FileStat
from pagekeep.library.mirror.records import FOLDER

_DRAFT: Final = "new.part"
_REPLACED: Final = "replaced"
_KEEP_NS: Final = 60_000_000_000
"""How long a replaced file is kept: sync clients and network disks finish a write within seconds."""
_NAME: Final = re.compile(r"(?P<id>[\w-]+)\.(?P<digest>\w+)\.(?P<size>\d+)\.(?P<mtime>\d+)\.\w+")


def create(folder: Path, path: str, data: bytes) -> bool:
    """Write a new file; return false when a file of this name exists."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = _write_draft(folder, data)
    try:
        os.link(draft, target)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            return False
        swap(draft, target)
    finally:
        draft.unlink(missing_ok=True)
    return True


def replace(folder: Path, item_id: str, old: FileContent, data: bytes) -> bool:
    """Replace a file atomically; return false when it is no longer as it was read."""
    target = folder / old.stat.path
    draft = _write_draft(folder, data)
    saved = _link_old(folder, item_id, old)
    try:
        if not _is_unchanged(saved or target, old):
            if saved:
                saved.unlink()
            return False
        links = saved.stat().st_nlink if saved else 0
        swap(draft, target)
        if saved and saved.stat().st_nlink == links:  # moved just before: the old file has another name now
            target.unlink(missing_ok=True)
            return False
    except FileNotFoundError:  # the file or its folder was moved
        return False
    finally:
        draft.unlink(missing_ok=True)
    return True


def remove(folder: Path, item_id: str, old: FileContent) -> bool:
    """Remove a file; return false when it is no longer as it was read."""
    saved = _link_old(folder, item_id, old)
    try:
        unchanged = _is_unchanged(saved or folder / old.stat.path, old)
        if unchanged:
            (folder / old.stat.path).unlink()
        elif saved:
            saved.unlink()
    except FileNotFoundError:
        return False
    return unchanged


def swap(draft: Path, target: Path) -> None:
    """Move the draft over the file."""
    try:
        os.replace(draft, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # A folder on another disk: the draft must be beside the file.
        near = target.with_name(f".{secrets.token_hex(8)}.part")
        near.write_bytes(draft.read_bytes())
        os.replace(near, target)


@dataclass(frozen=True, slots=True)
class ReplacedFile:
    """A file that the mirror replaced or removed a short time ago."""

    path: Path
    item_id: str
    stat: FileStat
    is_elsewhere: bool
    """Whether it has a name in the folder too."""
    changed: bool
    """Whether a program has written to it since."""
    expired: bool


def list_replaced(folder: Path, now: int) -> Iterator[ReplacedFile]:
    """Yield the replaced files, oldest edit first."""
    found: list[tuple[ReplacedFile, int]] = []
    links = Counter[int]()
    with suppress(FileNotFoundError):
        for path in (folder / FOLDER / _REPLACED).iterdir():
            name, info = _NAME.fullmatch(path.name), path.lstat()
            if name is None:
                continue
            stat = FileStat(path.relative_to(folder).as_posix(), info.st_size, info.st_mtime_ns, info.st_ino)
            changed = (stat.size, stat.mtime) != (int(name["size"]), int(name["mtime"]))
            expired = now - max(info.st_ctime_ns, stat.mtime) > _KEEP_NS
            links[stat.inode] += 1
            found.append((ReplacedFile(path, name["id"], stat, False, changed, expired), info.st_nlink))
    for one, count in sorted(found, key=lambda pair: pair[0].stat.mtime):
        # After a crash two of the names here may be of one file.
        yield dataclasses.replace(one, is_elsewhere=count > links[one.stat.inode])


def keep_replaced(folder: Path, item_id: str, file: FileContent, path: Path) -> None:
    """Note that the present content of a replaced file has been handled."""
    os.replace(path, _replaced_path(folder, item_id, file))


def _write_draft(folder: Path, data: bytes) -> Path:
    draft = folder / FOLDER / _DRAFT
    draft.unlink(missing_ok=True)  # a crash may have left it linked to a file
    draft.write_bytes(data)
    return draft


def _replaced_path(folder: Path, item_id: str, file: FileContent) -> Path:
    name = f"{item_id}.{file.digest}.{file.stat.size}.{file.stat.mtime}.{time.time_ns():x}"
    return folder / FOLDER / _REPLACED / name


def _link_old(folder: Path, item_id: str, old: FileContent) -> Path | None:
    """Return a second name of the file, or `None` where there are no hard links."""
    saved = _replaced_path(folder, item_id, old)
    saved.parent.mkdir(exist_ok=True)
    try:
        os.link(folder / old.stat.path, saved, follow_symlinks=False)
    except (OSError, NotImplementedError):
        return None
    return saved


def _is_unchanged(path: Path, old: FileContent) -> bool:
    """Return whether the file has the size, time and content that it had when it was read."""
    stat = path.lstat()
    if (stat.st_size, stat.st_mtime_ns) != (old.stat.size, old.stat.mtime):
        return False
    return files.digest(path.read_bytes()) == old.digest
