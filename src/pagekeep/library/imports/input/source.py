"""Where exports are read from: a file, or a folder or archive of files."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, Protocol, TextIO

from pagekeep.errors import NotFound

SAMPLE: Final = 65_536
"""Characters by which a format is recognised."""
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
MOST_FILES: Final = 200_000


@dataclass(frozen=True)
class Source:
    """One file of an export. It can be read again from the start."""

    name: str
    opening: Callable[[], BinaryIO] = field(repr=False)
    part: str = ""
    """Its name within the folder or archive."""

    @contextmanager
    def text(self) -> Iterator[TextIO]:
        """The file as text; what is not in its encoding is replaced."""
        with self.opening() as file:
            begin = file.read(4)
            encoding = next((name for mark, name in _MARKS if begin.startswith(mark)), "utf-8")
            file.seek(0)
            # Line ends stay as they are: a CSV's own rules apply to them.
            stream = io.TextIOWrapper(file, encoding, "replace", newline="")
            try:
                yield stream
            finally:
                stream.detach()  # it is not the stream that closes the file

    @cached_property
    def head(self) -> str:
        """The beginning of the text."""
        with self.text() as stream:
            return stream.read(SAMPLE)


class Tree(Protocol):
    """A folder or archive."""

    name: str

    def names(self) -> list[str]:
        """The files' names, in order, with `/` between folders."""

    def source(self, name: str) -> Source:
        """One of the files; `NotFound` when there is none of this name, or it would lead outside."""


class _Kept(io.BufferedReader):
    """Reads a file that belongs to someone else: closing this does not close it."""

    def close(self) -> None:
        """Let go of it; the owner closes it."""
        with suppress(ValueError):
            self.detach()


def of_stream(file: BinaryIO, name: str) -> Source:
    """A file that is open already and can be read from its start."""

    def opening() -> BinaryIO:
        file.seek(0)
        return _Kept(file)  # type: ignore[arg-type]

    return Source(name, opening)


def of_path(path: Path) -> Source:
    """A file on the disk."""
    return Source(path.name, lambda: path.open("rb"))


class Folder:
    """A folder on the disk. Links are not followed."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._path = path

    def names(self) -> list[str]:
        found = (path for path in self._path.rglob("*") if path.is_file() and not path.is_symlink())
        inside = (path.relative_to(self._path) for path in found)
        return sorted(path.as_posix() for path in inside if not any(part.startswith(".") for part in path.parts))

    def source(self, name: str) -> Source:
        path = self._path / name
        if not is_inside(name) or _has_link(self._path, name) or not path.is_file():
            raise NotFound(f"The export has no file {name:.200}.")
        return Source(path.name, lambda: path.open("rb"), name)


def is_inside(name: str) -> bool:
    """Whether a name stays within its folder."""
    parts = PurePosixPath(name).parts
    return bool(parts) and not name.startswith("/") and ".." not in parts and "\\" not in name and "\x00" not in name


def _has_link(folder: Path, name: str) -> bool:
    path = folder
    for part in PurePosixPath(name).parts:
        path = path / part
        if path.is_symlink():
            return True
    return False
