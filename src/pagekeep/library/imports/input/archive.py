"""ZIP archives, read in place: nothing is written to disk, and no archive makes us hold more than a little of it."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from typing import BinaryIO, Final

from pagekeep.errors import NotFound, ParseError, TooLarge
from pagekeep.library.imports.input.source import Source, is_inside

_MAGIC: Final = (b"PK\x03\x04", b"PK\x05\x06")
_END: Final = b"PK\x05\x06"
_END_64: Final = b"PK\x06\x06"
_END_SIZE: Final = 22
_LONGEST_COMMENT: Final = 65_536
LARGEST_INDEX: Final = 64_000_000
"""Bytes of an archive's list of files, which is read whole: some 500,000 files."""
LARGEST_TOTAL: Final = 20_000_000_000
"""Bytes that all files together may unpack to."""


def is_archive(file: BinaryIO) -> bool:
    """Whether it begins as ZIP archives do."""
    file.seek(0)
    begin = file.read(4)
    file.seek(0)
    return begin in _MAGIC


class Archive:
    """A ZIP archive; links, paths that lead outside and encrypted files are as if they were not there."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self._left = LARGEST_TOTAL
        _refuse_large_index(file)
        try:
            self._zip = zipfile.ZipFile(file)
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

    def unpacked(self, count: int) -> None:
        """So many bytes more were unpacked: bombs are noticed by what comes out, not by what they claim."""
        self._left -= count
        if self._left < 0:
            raise TooLarge("The archive unpacks to more than 20 GB.")

    def stream(self, info: zipfile.ZipInfo) -> BinaryIO:
        """The unpacked bytes of a file."""
        return self._zip.open(info)  # type: ignore[return-value]


def _is_plain_file(info: zipfile.ZipInfo) -> bool:
    kind = stat.S_IFMT(info.external_attr >> 16)
    encrypted = bool(info.flag_bits & 1)
    return not info.is_dir() and kind in (0, stat.S_IFREG) and not encrypted and is_inside(info.filename)


def _refuse_large_index(file: BinaryIO) -> None:
    """Python reads the whole list of files into memory before one can ask how long it is."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _LONGEST_COMMENT - _END_SIZE))
    tail = file.read()
    file.seek(0)
    at = tail.rfind(_END)
    length = int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0
    large = tail.rfind(_END_64)
    if large >= 0:
        length = max(length if length != 0xFFFFFFFF else 0, int.from_bytes(tail[large + 40 : large + 48], "little"))
    if length > LARGEST_INDEX:
        raise TooLarge("The archive has too many files.")


class _Member(io.RawIOBase):
    """A file within an archive; damage is told in our own words."""

    def __init__(self, archive: Archive, info: zipfile.ZipInfo) -> None:
        self._archive, self._info = archive, info
        self._stream = self._opened()

    def _opened(self) -> BinaryIO:
        try:
            return self._archive.stream(self._info)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError) as error:
            raise ParseError(f"A file in the archive is damaged: {self._info.filename:.200}") from error

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """To the start, which is all that is needed."""
        if offset == 0 and whence == io.SEEK_SET:
            self._stream.close()
            self._stream = self._opened()
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
        self._archive.unpacked(len(data))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()
