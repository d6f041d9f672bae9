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

SAMPLE_CHARS: Final = 65_536
"""How much of a file is read to recognise its format."""
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Source:
    """One file of an export, which can be read again from the start."""

    name: str
    open: Callable[[], BinaryIO] = field(repr=False)
    part: str = ""
    """Its path within the folder or archive."""

    @contextmanager
    def text(self) -> Iterator[TextIO]:
        """Open the file as text; bytes that its encoding does not allow are replaced."""
        with self.open() as file:
            begin = file.read(4)
            encoding = next((name for mark, name in _BYTE_ORDER_MARKS if begin.startswith(mark)), "utf-8")
            file.seek(0)
            # `newline=""` keeps line ends as they are: the CSV parser has its own rules for them.
            stream = io.TextIOWrapper(file, encoding, "replace", newline="")
            try:
                yield stream
            finally:
                stream.detach()  # the outer `with` closes the file, not the wrapper

    @cached_property
    def head(self) -> str:
        """The beginning of the text."""
        with self.text() as stream:
            return stream.read(SAMPLE_CHARS)


def read_lines(stream: TextIO, max_chars: int) -> Iterator[str | None]:
    """Yield every line; `None` for one that is too long, which is not held in memory."""
    while line := stream.readline(max_chars):
        if len(line) < max_chars or line.endswith("\n"):
            yield line
            continue
        while (rest := stream.readline(max_chars)) and not rest.endswith("\n"):
            pass
        yield None


class Tree(Protocol):
    """A folder or archive."""

    name: str

    def names(self) -> list[str]:
        """Return the paths of the files in order, with `/` between folders."""

    def source(self, name: str) -> Source:
        """Return one of the files; raise `NotFound` when it does not exist or its path leads outside."""


class _BorrowedFile(io.BufferedReader):
    """A view of a file that the caller owns: closing the view leaves the file open."""

    def close(self) -> None:
        """Detach from the file without closing it."""
        with suppress(ValueError):
            self.detach()


def source_from_stream(file: BinaryIO, name: str) -> Source:
    """Return an open file, which must be seekable, as a source."""

    def reopen() -> BinaryIO:
        file.seek(0)
        return _BorrowedFile(file)  # type: ignore[arg-type]

    return Source(name, reopen)


class Folder:
    """A folder on the disk. Symbolic links are not followed."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._path = path

    def names(self) -> list[str]:
        files = (path for path in self._path.rglob("*") if path.is_file() and not path.is_symlink())
        inside = (path.relative_to(self._path) for path in files)
        return sorted(path.as_posix() for path in inside if not any(part.startswith(".") for part in path.parts))

    def source(self, name: str) -> Source:
        path = self._path / name
        if not is_inside(name) or _has_link(self._path, name) or not path.is_file():
            raise NotFound(f"The export has no file {name:.200}.")
        return Source(path.name, lambda: path.open("rb"), name)


def is_inside(name: str) -> bool:
    """Return whether a relative path stays within its folder."""
    parts = PurePosixPath(name).parts
    return bool(parts) and not name.startswith("/") and ".." not in parts and "\\" not in name and "\x00" not in name


def _has_link(folder: Path, name: str) -> bool:
    path = folder
    for part in PurePosixPath(name).parts:
        path = path / part
        if path.is_symlink():
            return True
    return False
