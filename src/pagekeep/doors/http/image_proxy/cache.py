"""A cache of images on disk with a size limit; the least recently used are removed first.

A file's name is the signature of its URL and user: the folder does not reveal what was read, and no user can find out by
response times what another has viewed.
"""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from pagekeep.private_files import make_folder, private

_CHECKS_PER_SIZE: Final = 20
"""The folder is measured each time a twentieth of the limit was written: other processes write there, too."""
_FILL_AFTER_CLEANUP: Final = 0.9
"""Share of the limit that stays after a clean-up."""
_TOUCH_SECONDS: Final = 3600.0
"""A file's time of use is updated at most this often."""
_TAG: Final = b"Signature: 8a477f597d28d172789f06886806bc55\n# Images of saved pages; may be deleted at any time.\n"
"""Marks the folder for backup programs as one to skip (bford.info/cachedir)."""


class _File(NamedTuple):
    used: float
    size: int
    path: str


class ImageCache:
    """Images by key. If the disk is full or missing, nothing is found and nothing is stored, without an error."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._written = max_bytes  # so that the first file triggers a check

    def find(self, key: str) -> bytes | None:
        """Return the data of a key and mark it as used now."""
        path = self._path(key)
        try:
            data = path.read_bytes()
            if time.time() - path.stat().st_mtime > _TOUCH_SECONDS:
                os.utime(path)
        except OSError:
            return None
        return data

    def store(self, key: str, data: bytes) -> None:
        """Store data atomically, unless it is larger than a twentieth of the limit."""
        if len(data) * _CHECKS_PER_SIZE > self._max_bytes:
            return
        with suppress(OSError):
            self._write(self._path(key), data)
            self._make_room(len(data))

    def remove_older(self, seconds: float) -> None:
        """Remove files last used longer ago than this."""
        with suppress(OSError):
            for file in self._files():
                if file.used < time.time() - seconds:
                    with suppress(OSError):
                        os.unlink(file.path)

    def remove(self, key: str) -> None:
        """Remove a key."""
        with suppress(OSError):
            self._path(key).unlink()

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key

    def _write(self, path: Path, data: bytes) -> None:
        if not path.parent.is_dir():
            make_folder(path.parent)
            (self._folder / "CACHEDIR.TAG").write_bytes(_TAG)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        try:
            with open(draft, "wb", opener=private) as file:
                file.write(data)
            draft.replace(path)
        except OSError:
            draft.unlink(missing_ok=True)
            raise

    def _make_room(self, written: int) -> None:
        with self._lock:
            self._written += written
            if self._written * _CHECKS_PER_SIZE < self._max_bytes:
                return
            self._written = 0
        files = sorted(self._files())
        excess = sum(file.size for file in files) - self._max_bytes
        if excess <= 0:
            return
        excess += int(self._max_bytes * (1 - _FILL_AFTER_CLEANUP))
        for file in files:
            if excess <= 0:
                return
            with suppress(OSError):
                os.unlink(file.path)
            excess -= file.size

    def _files(self) -> list[_File]:
        files = []
        for folder in os.scandir(self._folder):
            if not folder.is_dir(follow_symlinks=False):
                continue
            for entry in os.scandir(folder.path):
                with suppress(OSError):
                    stat = entry.stat(follow_symlinks=False)
                    files.append(_File(stat.st_mtime, stat.st_size, entry.path))
        return files
