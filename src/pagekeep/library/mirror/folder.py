"""The Markdown files in the mirror's folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Final

from pagekeep.errors import ParseError
from pagekeep.library.exports import markdown_files
from pagekeep.library.exports.markdown_files import Document
from pagekeep.library.mirror import pictures

MAX_FILE_BYTES: Final = 20_000_000
MIN_AGE_NS: Final = 2_000_000_000
"""Programs on network disks empty a file and write it 0.3 seconds later, and some file systems store times to two seconds:
a file this new may be half written, or change again without a new time."""


@dataclass(frozen=True, slots=True)
class FileStat:
    """A file as the folder lists it."""

    path: str
    size: int
    mtime: int
    """In nanoseconds."""
    inode: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file that was read."""

    stat: FileStat
    digest: str
    document: Document | None
    """`None` when it cannot be read."""
    fault: str = ""
    """Why it cannot be read."""
    data: bytes = b""


def digest(data: bytes) -> str:
    """Return a hash of the bytes."""
    return hashlib.sha256(data).hexdigest()[:32]


def digest_body(body: str) -> str:
    """Return a hash of the Markdown, ignoring blank lines at its ends."""
    return digest(body.strip("\n").encode("utf-8", "replace"))


def is_young(stat: FileStat, now: int) -> bool:
    """Return whether the file changed so recently that a program may still be writing it."""
    return abs(now - stat.mtime) < MIN_AGE_NS


def list_files(folder: Path) -> Iterator[FileStat]:
    """Yield every Markdown file in order of name, without hidden files and symbolic links."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and name.lower().endswith(".md"):
                path = os.path.join(parent, name)
                stat = stat_file(folder, os.path.relpath(path, folder).replace(os.sep, "/"))
                if stat is not None:
                    yield stat


def stat_file(folder: Path, path: str) -> FileStat | None:
    """Return size and time of a file, or `None` when it does not exist or is a symbolic link."""
    try:
        stat = os.lstat(folder / path)
    except OSError:
        return None
    return FileStat(path, stat.st_size, stat.st_mtime_ns, stat.st_ino) if S_ISREG(stat.st_mode) else None


def read_file(folder: Path, stat: FileStat) -> FileContent | None:
    """Return the content of a file, or `None` when it has been removed."""
    if stat.size > MAX_FILE_BYTES:
        return FileContent(stat, "", None, f"The file is too large: the limit is {MAX_FILE_BYTES // 1_000_000} MB.")
    try:
        data = (folder / stat.path).read_bytes()
    except OSError:
        return None
    try:
        return FileContent(stat, digest(data), read_document(folder, data.decode("utf-8")), data=data)
    except UnicodeDecodeError:
        return FileContent(stat, digest(data), None, "The file is not UTF-8 text.", data)
    except ParseError as error:
        return FileContent(stat, digest(data), None, error.message, data)


def read_document(folder: Path, text: str) -> Document:
    """Return the parts of a file, with the web addresses of its pictures; raise `ParseError` as `markdown_files.read` does."""
    return markdown_files.read(pictures.show_addresses(folder, text))
