"""Files of kept content outside the database: compressed, and named by the hash of their content."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from pagekeep.errors import StoreError
from pagekeep.private_files import private

_NAME: Final = re.compile(r"([0-9a-f]{64})(\.zst)?")
_DRAFT: Final = ".part-"
"""How the names of files begin that are being written."""
_SUFFIXES: Final = {None: "", "zstd": ".zst"}
"""Encoding to the end of the file name: files with the same content in different encodings have different names."""


def blob_root(library: Path) -> Path:
    """Return the folder of the files that are kept with a library's items, beside the library."""
    return library.with_name(f"{library.name}.blobs")


class BlobFile(NamedTuple):
    """A file in the folder."""

    path: Path
    hash: str | None
    """`None` for a file that was not completed."""
    encoding: str | None
    size: int
    changed: float
    """When it was written, in seconds since 1970."""


class BlobFolder:
    """Reads, writes and removes files."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, name: str, encoding: str | None) -> Path:
        """Return the path of a file, which may not exist."""
        return self.root / name[:2] / f"{name}{_SUFFIXES[encoding]}"

    def write(self, name: str, encoding: str | None, data: bytes) -> None:
        """Write a file, unless it exists with these bytes; it is on the disk when this returns."""
        path = self.path(name, encoding)
        try:
            if self._holds(path, data):
                sync_folder(path.parent)  # the process that wrote it may have ended before it did this
                return
            _make_folder(path.parent)
            draft = path.with_name(f"{_DRAFT}{os.getpid()}-{secrets.token_hex(8)}")
            try:
                with open(draft, "xb", opener=private) as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)
            sync_folder(path.parent)
        except OSError as error:
            raise _cannot_write(self.root, error) from error

    def _holds(self, path: Path, data: bytes) -> bool:
        try:
            return path.read_bytes() == data
        except FileNotFoundError:  # it is new, or another program removes it just now
            return False

    def read(self, name: str, encoding: str | None) -> bytes:
        """Return the bytes of a file; `StoreError` when it is missing."""
        try:
            return self.path(name, encoding).read_bytes()
        except OSError as error:
            raise StoreError(
                f"The kept file {name:.12} is missing from {self.root}.",
                suggestions=("Restore the folder from a backup, or save the page again.",),
            ) from error

    def read_intact(self, name: str, encoding: str | None) -> bytes:
        """Return the bytes of a file; `StoreError` when it is missing or does not have the content that its name says."""
        data = self.read(name, encoding)
        if not is_intact(name, encoding, data):
            raise StoreError(
                f"The kept file {name:.12} is damaged.", suggestions=("Restore a backup, or save the page again.",)
            )
        return data

    def has_intact(self, name: str, encoding: str | None) -> bool:
        """Return whether a file is there with the content that its name says."""
        try:
            return is_intact(name, encoding, self.path(name, encoding).read_bytes())
        except OSError:
            return False

    def remove_unused(self, is_used: Callable[[str], bool], min_age: float) -> None:
        """Remove files whose names are not used, and those that were never completed, once they are this many seconds old.

        Younger ones may be those of another process, which is about to use them.
        """
        oldest = time.time() - min_age
        for file in self.files():
            if file.changed < oldest and (file.hash is None or not is_used(file.hash)):
                file.path.unlink(missing_ok=True)

    def files(self) -> Iterator[BlobFile]:
        """Yield all files, also those that were not completed."""
        for folder in sorted(self.root.glob("[0-9a-f][0-9a-f]")):
            for path in sorted(folder.iterdir()):
                match = _NAME.fullmatch(path.name)
                if match is None and not path.name.startswith(_DRAFT):
                    continue  # not ours
                try:
                    about = path.stat()
                except FileNotFoundError:
                    continue
                encoding = "zstd" if match and match[2] else None
                yield BlobFile(path, match[1] if match else None, encoding, about.st_size, about.st_mtime)


def _make_folder(folder: Path) -> None:
    """Create a folder and those above it, such that a crash cannot lose them."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in the folder are on the disk; Windows has no way to, and needs none."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _cannot_write(root: Path, error: OSError) -> StoreError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return StoreError("The disk is full.", suggestions=("Free some space; nothing that was saved is lost.",))
    return StoreError(f"The folder {root} cannot be written.", suggestions=("Check its permissions.",))


if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LEVEL: Final = 6
"""Level 6 compresses a page of 250 KB in about 4 ms; higher levels take several times that to save a few percent."""


def pack(body: bytes) -> bytes:
    """Return the bytes compressed."""
    return zstd.compress(body, level=_LEVEL)


def packer() -> Callable[[bytes], bytes]:
    """Return a `pack` for many small bodies in one thread: setup takes five times as long as compressing a few words."""
    compressor = zstd.ZstdCompressor(level=_LEVEL)
    return lambda body: compressor.compress(body, zstd.ZstdCompressor.FLUSH_FRAME)


def unpack(packed: bytes) -> bytes:
    """Return the bytes before compression; `StoreError` when they are damaged."""
    try:
        return zstd.decompress(packed)
    except zstd.ZstdError:
        raise StoreError(
            "A stored page is damaged.", suggestions=("Restore a backup, or fetch the page again.",)
        ) from None


def is_intact(name: str, encoding: str | None, data: bytes) -> bool:
    """Return whether stored bytes, compressed or not, have the content whose SHA-256 is their name."""
    try:
        return hashlib.sha256(unpack(data) if encoding else data).hexdigest() == name
    except (StoreError, TypeError, ValueError):
        return False
