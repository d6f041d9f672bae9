"""The mirror's records of its files: which item each belongs to, and what was written last.

The records are lines of JSON, of which the last one for an item counts. A record is stored before its file is written, with
the digests of the old and the new bytes: after a crash both are known, and neither is mistaken for an edit of the user.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from pagekeep.errors import Conflict, ParseError

FOLDER: Final = ".pagekeep"
_FILE: Final = "mirror.jsonl"
_LOCK: Final = "lock"
_VERSION: Final = 1


MAX_BASES: Final = 16
"""Revisions remembered per file: an editor's buffer may be this many changes of the library behind."""


@dataclass(frozen=True, slots=True)
class Base:
    """The values of one revision of a file on which the library and the file agreed: the base of a three-way merge."""

    revision: str
    """The `mirror_revision` in the file; empty in files that older versions wrote."""
    body: str
    """Digest of the Markdown."""
    tags: tuple[str, ...] = ()
    """In the file's notation."""
    pinned: bool = False
    archived: bool = False
    edited: bool = False
    notes: Mapping[str, str] = field(default_factory=dict)
    """Digests of the notes, by the id of their annotation."""


@dataclass(frozen=True, slots=True)
class Record:
    """A file of the mirror as it was last written."""

    id: str
    path: str
    """Within the folder, with `/` between names."""
    digests: tuple[str, ...]
    """Of the bytes that the mirror wrote: the last, and during a write the ones before."""
    version: str
    """The item's version in the library; empty to compare again at the next pass."""
    bases: tuple[Base, ...]
    """By revision: the last one written, then those last edited or written."""
    pending: tuple[Base, ...] = ()
    """Edits of the file that are being applied; after a crash the library may have them or not."""
    size: int = 0
    mtime: int = 0
    """In nanoseconds; 0 when the file is so new that a later change could have the same time."""
    inode: int = 0
    lost_inode: int = 0
    """Inode of a file that was missing when this one was written in its place."""

    def find_bases(self, revision: str) -> tuple[Base, ...]:
        """Return what a file of this revision may be compared with; nothing when the revision is unknown."""
        found = [base for base in self.bases if base.revision == revision]
        if not found and not revision:
            found = list(self.bases[:1])
        return (*found[:1], *(edit for edit in self.pending if edit.revision == found[0].revision)) if found else ()

    def add_base(self, base: Base, *, first: bool) -> Record:
        """Return the record with this base: as the last one written, or right after that one.

        An edit shows that an editor still has its revision open, so that this one is not the next to be forgotten.
        """
        others = [old for old in self.bases if old.revision != base.revision]
        place = 0 if first or self.bases[:1] != tuple(others[:1]) else min(1, len(others))
        bases = (*others[:place], base, *others[place:])
        return replace(self, bases=bases[:MAX_BASES], pending=())


_RECORD_FIELDS: Final = tuple(one.name for one in fields(Record))
_BASE_FIELDS: Final = tuple(one.name for one in fields(Base))


class Records:
    """The records of a folder, by id."""

    def __init__(self, folder: Path, user_id: str, profile: str) -> None:
        self._path = folder / FOLDER / _FILE
        self._head = {"mirror": _VERSION, "user": user_id, "profile": profile}
        self._lines = 0
        self.by_id: dict[str, Record] = {}
        self.profile_changed = False
        self._load()

    def store(self, record: Record) -> None:
        """Add or replace a record, on disk as well."""
        self.by_id[record.id] = record
        self._append(_to_json(record))

    def remove(self, item_id: str) -> None:
        """Remove the record of an item."""
        if self.by_id.pop(item_id, None) is not None:
            self._append({"id": item_id, "gone": True})

    def compact(self) -> None:
        """Rewrite the file when most of its lines are outdated."""
        if self._lines > 2 * len(self.by_id) + 100:
            self.rewrite()

    def rewrite(self) -> None:
        """Replace the file atomically with one line per record."""
        lines = [self._head, *map(_to_json, self.by_id.values())]
        draft = self._path.with_suffix(".part")
        draft.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        os.replace(draft, self._path)
        self._lines = len(self.by_id)

    def _append(self, line: dict[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self._lines += 1

    def _load(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            text = self._path.read_text("utf-8", "replace")
        except FileNotFoundError:
            self.rewrite()
            return
        head, *lines = text.split("\n")
        self._check(head)
        for record in _parse_lines(lines):
            self._lines += 1
            if isinstance(record, str):
                self.by_id.pop(record, None)
            else:
                self.by_id[record.id] = record
        if self.profile_changed or not text.endswith("\n"):
            self.rewrite()

    def _check(self, head: str) -> None:
        try:
            stored = json.loads(head)
        except ValueError:
            stored = None
        if not isinstance(stored, dict) or stored.get("mirror") != _VERSION:
            raise ParseError(
                f"The mirror's records cannot be read: {self._path}", suggestions=("Mirror to another folder.",)
            )
        if stored.get("user") != self._head["user"]:
            raise Conflict("The folder is the mirror of another library.", suggestions=("Mirror to another folder.",))
        self.profile_changed = stored.get("profile") != self._head["profile"]


def _to_json(record: Record) -> dict[str, Any]:
    """Return a record as it is stored, where the digests are called `marks`."""
    # `dataclasses.asdict` copies every value, which took a tenth of the time of a first pass.
    values = {"marks" if name == "digests" else name: getattr(record, name) for name in _RECORD_FIELDS}
    for name in ("bases", "pending"):
        values[name] = [{part: getattr(base, part) for part in _BASE_FIELDS} for base in values[name]]
    return values


def _parse_lines(lines: Iterable[str]) -> Iterator[Record | str]:
    """Yield records, and ids of removed ones; a line that a crash cut off is ignored."""
    for line in lines:
        try:
            entry = json.loads(line)
            if entry.get("gone"):
                yield str(entry["id"])
            else:
                # Lines of older versions have the values of one base at their top level.
                bases = entry.get("bases") or [entry | {"revision": ""}]
                lists = {
                    "digests": tuple(entry["marks"]),
                    "bases": tuple(map(_parse_base, bases)),
                    "pending": tuple(map(_parse_base, entry.get("pending", ()))),
                }
                yield Record(**{name: value for name, value in entry.items() if name in _RECORD_FIELDS} | lists)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue


def _parse_base(entry: Mapping[str, Any]) -> Base:
    return Base(
        **{name: value for name, value in entry.items() if name in _BASE_FIELDS} | {"tags": tuple(entry["tags"])}
    )


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; raise `Conflict` when another process has it. The system releases it after a crash."""
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    with (folder / FOLDER / _LOCK).open("a+b") as file:
        try:
            _lock(file.fileno())
        except OSError:
            raise Conflict("Another mirror is running in this folder.", suggestions=("Stop it first.",)) from None
        yield


def _lock(file: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
