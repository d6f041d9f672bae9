"""Where exports are read from: a file, a folder, or a ZIP archive, which is read in place."""

from __future__ import annotations

import codecs
import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, Protocol, TextIO, cast

from pagekeep.errors import NotFound, ParseError, TooLarge

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


_MAGIC: Final = (b"PK\x03\x04", b"PK\x05\x06")
_INDEX_ENTRY: Final = b"PK\x01\x02"
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What programs that export write. Python unpacks the others (bzip2, LZMA) in steps of any size."""
MAX_FILES: Final = 500_000
"""Python keeps about 600 bytes per file in memory; an entry takes 46 bytes and its name."""
MAX_INDEX_BYTES: Final = 64_000_000
"""The largest file list to accept: Python reads it into memory at once."""
MAX_UNPACKED_BYTES: Final = 20_000_000_000
"""What all files together may unpack to."""


def is_archive(file: BinaryIO) -> bool:
    """Return whether a file begins like a ZIP archive."""
    file.seek(0)
    begin = file.read(4)
    file.seek(0)
    return begin in _MAGIC


class Archive:
    """A ZIP archive without its links, encrypted files and files whose path leads outside."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self._left = MAX_UNPACKED_BYTES
        try:
            self._zip = zipfile.ZipFile(cast(BinaryIO, _BoundedReader(file)))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, EOFError) as error:
            raise ParseError("The archive is damaged.", suggestions=("Download the export again.",)) from error
        self._files = {info.filename: info for info in self._zip.infolist() if _is_plain_file(info)}

    def names(self) -> list[str]:
        return sorted(self._files)

    def source(self, name: str) -> Source:
        if name not in self._files:
            raise NotFound(f"The export has no file {name:.200}.")
        return Source(name.rpartition("/")[2], lambda: self._open(name), name)

    def _open(self, name: str) -> BinaryIO:
        return io.BufferedReader(_Member(self, self._files[name]))

    def count_unpacked(self, count: int) -> None:
        """Count unpacked bytes; archive bombs are detected by real sizes, since they lie about the declared ones."""
        self._left -= count
        if self._left < 0:
            raise TooLarge("The archive unpacks to more than 20 GB.")

    def unpack(self, info: zipfile.ZipInfo) -> BinaryIO:
        """Open a file of the archive as a stream of its unpacked bytes."""
        return self._zip.open(info)  # type: ignore[return-value]


def _is_plain_file(info: zipfile.ZipInfo) -> bool:
    kind = stat.S_IFMT(info.external_attr >> 16)
    encrypted = bool(info.flag_bits & 1)
    # Not `is_dir`, which fails for a file without a name.
    is_folder = info.filename.endswith("/")
    return not is_folder and kind in (0, stat.S_IFREG) and not encrypted and is_inside(info.filename)


class _BoundedReader:
    """The file as `ZipFile` reads it; the read of a list with too many files is refused.

    Where that list is and how long it is can be read in several ways from a crafted file, so this checks the read itself.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, io.SEEK_END)
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        rest = self._size - self._file.tell()
        length = rest if size < 0 else min(size, rest)
        data = self._file.read(length) if 0 < length <= MAX_INDEX_BYTES else b""
        if length > MAX_INDEX_BYTES or data.count(_INDEX_ENTRY) > MAX_FILES:
            raise TooLarge("The archive contains too many files (more than about 500,000).")
        return data


class _Member(io.RawIOBase):
    """A file within an archive, whose read errors become `ParseError`."""

    def __init__(self, archive: Archive, info: zipfile.ZipInfo) -> None:
        self._archive, self._info = archive, info
        self._stream = self._open()

    def _open(self) -> BinaryIO:
        if self._info.compress_type not in _METHODS:
            raise ParseError(
                f"A file in the archive has an unusual compression: {self._info.filename:.200}",
                suggestions=("Unpack the archive, and import the folder or pack it again.",),
            )
        try:
            return self._archive.unpack(self._info)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError) as error:
            raise ParseError(f"A file in the archive is damaged: {self._info.filename:.200}") from error

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go back to the start; other positions are not supported."""
        if offset == 0 and whence == io.SEEK_SET:
            self._stream.close()
            self._stream = self._open()
            return 0
        return self.tell()

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        try:
            data = self._stream.read(len(view))
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, OSError, EOFError, ValueError) as error:
            raise ParseError(f"A file in the archive is damaged: {self._info.filename:.200}") from error
        self._archive.count_unpacked(len(data))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()
