"""Files and folders that only their owner can read, whatever the umask: the library, backups and settings."""

from __future__ import annotations

import binascii
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


def create_key(path: Path, size: int) -> None:
    """Create a file with a random key in Base64, wholly or not at all, unless there is one; only its owner may read it."""
    if path.exists():
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(binascii.b2a_base64(os.urandom(size)))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)  # unlike a rename, it never replaces the key of another process
    finally:
        draft.unlink(missing_ok=True)
