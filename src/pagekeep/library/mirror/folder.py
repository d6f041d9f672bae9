"""The files in the mirror's folder, and what they say."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Final

from pagekeep.errors import ParseError
from pagekeep.library.exports import markdown_files
from pagekeep.library.exports.markdown_files import Document

LARGEST: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as the folder lists it."""

    path: str
    size: int
    mtime: int


@dataclass(frozen=True, slots=True)
class File:
    """A file that was read."""

    seen: Seen
    mark: str
    document: Document | None
    """`None` when it cannot be understood."""
    fault: str = ""
    """Why not."""


def mark(data: bytes) -> str:
    """What tells these bytes from others."""
    return hashlib.sha256(data).hexdigest()[:32]


def mark_of_body(body: str) -> str:
    """What tells a Markdown from others, blank lines at its ends apart."""
    return mark(body.strip("\n").encode("utf-8", "replace"))


def look(folder: Path) -> Iterator[Seen]:
    """Every Markdown file, in order of name. Hidden ones and links are not ours to look at."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and name.lower().endswith(".md"):
                path = os.path.join(place, name)
                seen = stat(folder, os.path.relpath(path, folder).replace(os.sep, "/"))
                if seen is not None:
                    yield seen


def stat(folder: Path, path: str) -> Seen | None:
    """The file as it is now; `None` when there is none, or a link."""
    try:
        found = os.lstat(folder / path)
    except OSError:
        return None
    return Seen(path, found.st_size, found.st_mtime_ns) if S_ISREG(found.st_mode) else None


def read(folder: Path, seen: Seen) -> File | None:
    """What the file says; `None` when it is gone by now."""
    if seen.size > LARGEST:
        return File(seen, "", None, "The file is too large.")
    try:
        data = (folder / seen.path).read_bytes()
    except OSError:
        return None
    try:
        return File(seen, mark(data), markdown_files.read(data.decode("utf-8")))
    except UnicodeDecodeError:
        return File(seen, mark(data), None, "The file is no text in UTF-8.")
    except ParseError as error:
        return File(seen, mark(data), None, error.message)
