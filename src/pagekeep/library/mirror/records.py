"""What the mirror knows of its files: which item each is, and what we wrote last.

A list of lines, the last of an item counting. A file is noted before it is written, with the mark of what was there and of
what will be: after a crash either is known as ours and not taken for an edit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from pagekeep.errors import Conflict, ParseError

FOLDER: Final = ".pagekeep"
_FILE: Final = "mirror.jsonl"
_LOCK: Final = "lock"
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Record:
    """A file of ours, as we left it."""

    id: str
    path: str
    """Within the folder, with `/` between names."""
    marks: tuple[str, ...]
    """Of the bytes that are ours: the last, and during a write those before it."""
    version: str
    """The item's, as the library tells it; empty when it is to be looked at again."""
    body: str
    """Mark of the Markdown."""
    tags: tuple[str, ...]
    """As the file has them."""
    pinned: bool = False
    archived: bool = False
    edited: bool = False
    size: int = 0
    mtime: int = 0
    """In nanoseconds; 0 when it is too young to tell a later change by it."""


class Records:
    """The records of a folder, by id."""

    def __init__(self, folder: Path, user_id: str, profile: str) -> None:
        self._path = folder / FOLDER / _FILE
        self._head = {"mirror": _VERSION, "user": user_id, "profile": profile}
        self._lines = 0
        self.by_id: dict[str, Record] = {}
        self.profile_changed = False
        self._load()

    def note(self, record: Record) -> None:
        """From now on this is known, even if we are killed right after."""
        self.by_id[record.id] = record
        self._append(asdict(record))

    def forget(self, item_id: str) -> None:
        """The file is not ours any more."""
        if self.by_id.pop(item_id, None) is not None:
            self._append({"id": item_id, "gone": True})

    def tidy(self) -> None:
        """Write the list anew when it has grown long."""
        if self._lines > 2 * len(self.by_id) + 100:
            self.rewrite()

    def rewrite(self) -> None:
        """Write the list anew: whole or not at all."""
        lines = [self._head, *map(asdict, self.by_id.values())]
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
        for record in _read(lines):
            self._lines += 1
            if isinstance(record, str):
                self.by_id.pop(record, None)
            else:
                self.by_id[record.id] = record
        if self.profile_changed or not text.endswith("\n"):
            self.rewrite()

    def _check(self, head: str) -> None:
        try:
            said = json.loads(head)
        except ValueError:
            said = None
        if not isinstance(said, dict) or said.get("mirror") != _VERSION:
            raise ParseError(
                "The mirror's own list in the folder cannot be read.", suggestions=("Mirror to another folder.",)
            )
        if said.get("user") != self._head["user"]:
            raise Conflict("The folder is the mirror of another library.", suggestions=("Mirror to another folder.",))
        self.profile_changed = said.get("profile") != self._head["profile"]


def _read(lines: Iterable[str]) -> Iterator[Record | str]:
    """Records, and ids of those that are gone; a line that was cut off by a crash says nothing."""
    names = {field.name for field in fields(Record)}
    for line in lines:
        try:
            said = json.loads(line)
            if said.get("gone"):
                yield str(said["id"])
            else:
                lists = {name: tuple(said[name]) for name in ("marks", "tags")}
                yield Record(**{name: value for name, value in said.items() if name in names} | lists)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The folder for one mirror at a time; `Conflict` when another is at it. A crash lets go of it."""
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    with (folder / FOLDER / _LOCK).open("a+b") as file:
        try:
            _lock(file.fileno())
        except OSError:
            raise Conflict("Another mirror is at work in this folder.", suggestions=("End it first.",)) from None
        yield


def _lock(file: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
