"""ZIP archives, read in place: nothing is written to disk, and only a small part of an archive is ever in memory."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from typing import BinaryIO, Final, cast

from pagekeep.errors import NotFound, ParseError, TooLarge
from pagekeep.library.imports.input.source import Source, is_inside

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
