"""Pictures kept on disk, within a bound: those looked at longest ago go first.

A file's name is the signature of its address and user: without the server's secret nobody can tell from the folder what was
read, and no user can tell by the time an answer takes what another has looked at.
"""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

_SHARE: Final = 20
"""A look around the folder for each twentieth of the bound that was written: other processes write there, too."""
_LEFT: Final = 0.9
"""Of the bound, after a clean-up."""
_TOUCHED_EVERY: Final = 3600.0
_TAG: Final = b"Signature: 8a477f597d28d172789f06886806bc55\n# Pictures of saved pages; may be deleted at any time.\n"
"""By which programs for backups know that they may pass the folder over (bford.info/cachedir)."""


class _File(NamedTuple):
    used: float
    size: int
    path: str


class Shelf:
    """Pictures by their key. A disk that is full or gone costs nothing but time: nothing is found, nothing is kept."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most = most_bytes
        self._lock = Lock()
        self._written = most_bytes  # so that the first one kept makes us look around

    def find(self, key: str) -> bytes | None:
        """What was kept, noted as looked at now."""
        path = self._path(key)
        try:
            data = path.read_bytes()
            if time.time() - path.stat().st_mtime > _TOUCHED_EVERY:
                os.utime(path)
        except OSError:
            return None
        return data

    def keep(self, key: str, data: bytes) -> None:
        """Whole or not at all; not what would take more than a twentieth of the room."""
        if len(data) * _SHARE > self._most:
            return
        with suppress(OSError):
            self._write(self._path(key), data)
            self._make_room(len(data))

    def drop_older(self, seconds: float) -> None:
        """Nothing stays that was last looked at before so long."""
        with suppress(OSError):
            for file in self._files():
                if file.used < time.time() - seconds:
                    with suppress(OSError):
                        os.unlink(file.path)

    def drop(self, key: str) -> None:
        """It is of no use."""
        with suppress(OSError):
            self._path(key).unlink()

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key

    def _write(self, path: Path, data: bytes) -> None:
        if not path.parent.is_dir():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            (self._folder / "CACHEDIR.TAG").write_bytes(_TAG)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        try:
            draft.write_bytes(data)
            draft.replace(path)
        except OSError:
            draft.unlink(missing_ok=True)
            raise

    def _make_room(self, written: int) -> None:
        with self._lock:
            self._written += written
            if self._written * _SHARE < self._most:
                return
            self._written = 0
        files = sorted(self._files())
        too_much = sum(file.size for file in files) - self._most
        if too_much <= 0:
            return
        too_much += int(self._most * (1 - _LEFT))
        for file in files:
            if too_much <= 0:
                return
            with suppress(OSError):
                os.unlink(file.path)
            too_much -= file.size

    def _files(self) -> list[_File]:
        found = []
        for folder in os.scandir(self._folder):
            if not folder.is_dir(follow_symlinks=False):
                continue
            for entry in os.scandir(folder.path):
                with suppress(OSError):
                    about = entry.stat(follow_symlinks=False)
                    found.append(_File(about.st_mtime, about.st_size, entry.path))
        return found
