"""Files and folders that only their owner can read, whatever the umask: the library, backups and settings."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def private(path: str, flags: int) -> int:
    """Open a file; one that is created belongs to its owner alone. For `open(..., opener=private)`."""
    return os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o600)


def create_file(path: Path) -> None:
    """Create an empty file, unless there is one or none can be created: then the one who writes to it finds out why."""
    with suppress(OSError):
        os.close(private(str(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL))


def make_folder(path: Path) -> None:
    """Create a folder, and those above it that are missing."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
