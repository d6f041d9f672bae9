"""The ZIP archive of an office file or a book: its list is checked before any file is unpacked, and every read is bounded."""

from __future__ import annotations

import io
import itertools
import zipfile
import zlib
from typing import Final

from pagekeep.capture.documents.refusals import DamagedFile, EncryptedFile
from pagekeep.errors import TooLarge

MAX_FILES: Final = 10_000
MAX_UNPACKED_BYTES: Final = 300_000_000
"""What all files together may declare; pictures count too, though none is unpacked."""
MAX_FILE_BYTES: Final = 60_000_000
"""Of one file that is read: 10 MB of packed XML are 60 to 150."""
MAX_READ_BYTES: Final = 120_000_000
"""Of all files that are read."""
MAX_RATIO: Final = 200
"""Unpacked to packed bytes of a file that is not small: XML of office programs reaches about 60, a bomb 1,000."""
_SMALL_BYTES: Final = 1_000_000
_INDEX_ENTRY: Final = b"PK\x01\x02"
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADER_BYTES: Final = 30
_ENCRYPTED: Final = 0x1
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError, ValueError)


class Archive:
    """A ZIP archive in memory, by the names of its files.

    Raises `DamagedFile`, and `TooLarge` for one that unpacks to more than a document can have.
    """

    def __init__(self, data: bytes) -> None:
        if data.count(_INDEX_ENTRY) > MAX_FILES:
            raise TooLarge(f"The file is an archive of more than {MAX_FILES:,} files.")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _BROKEN as error:
            raise DamagedFile("its list of files cannot be read") from error
        # Not `is_dir`, which fails for a file without a name.
        entries = [entry for entry in self._zip.infolist() if entry.filename and not entry.filename.endswith("/")]
        _check_sizes(entries)
        _check_overlaps(entries)
        self._entries = {entry.filename: entry for entry in reversed(entries)}
        self._folded = {name.casefold(): name for name in reversed(self._entries)}
        self._left = MAX_READ_BYTES

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files, in the order of the list."""
        return tuple(reversed(self._entries))

    def __contains__(self, name: str) -> bool:
        return self._find(name) is not None

    def read(self, name: str) -> bytes:
        """Return a file; raise `DamagedFile` if it is missing or damaged, `EncryptedFile`, or `TooLarge`."""
        entry = self._find(name)
        if entry is None:
            raise DamagedFile(f"{name[:100]} is missing")
        if entry.flag_bits & _ENCRYPTED:
            raise EncryptedFile
        if entry.compress_type not in _METHODS:
            raise DamagedFile(f"{name[:100]} has an unknown compression")
        limit = min(entry.file_size, MAX_FILE_BYTES, self._left)
        try:
            with self._zip.open(entry) as stream:
                data = stream.read(limit + 1)
        except _BROKEN as error:
            raise DamagedFile(f"{name[:100]} cannot be unpacked") from error
        if len(data) > limit:
            raise TooLarge("The file unpacks to more than a document can have.")
        self._left -= len(data)
        return data

    def read_if_there(self, name: str) -> bytes | None:
        """Return a file, or `None` if it is missing or damaged: of a part that the text does not need."""
        try:
            return self.read(name)
        except DamagedFile:
            return None

    def _find(self, name: str) -> zipfile.ZipInfo | None:
        """Return the entry of a name; some programs differ in the case of letters from what they refer to."""
        name = name.lstrip("/")
        found = self._entries.get(name)
        return found if found is not None else self._entries.get(self._folded.get(name.casefold(), ""))


def _check_sizes(entries: list[zipfile.ZipInfo]) -> None:
    for entry in entries:
        if entry.file_size > _SMALL_BYTES and entry.file_size > MAX_RATIO * max(1, entry.compress_size):
            raise TooLarge(f"A part of the file unpacks to more than {MAX_RATIO} times its size.")
    if sum(entry.file_size for entry in entries) > MAX_UNPACKED_BYTES:
        raise TooLarge(f"The file unpacks to more than {MAX_UNPACKED_BYTES // 1_000_000} MB.")


def _check_overlaps(entries: list[zipfile.ZipInfo]) -> None:
    """Raise `DamagedFile` when two files of the list share bytes: how a bomb declares the same bytes many times."""
    places = sorted(
        (entry.header_offset, entry.header_offset + _HEADER_BYTES + entry.compress_size) for entry in entries
    )
    if any(start < end for (_, end), (start, _) in itertools.pairwise(places)):
        raise DamagedFile("its files overlap")
