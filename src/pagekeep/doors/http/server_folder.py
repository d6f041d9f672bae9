"""The server's data folder: its secret and its image caches."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

from pagekeep.config import Settings
from pagekeep.errors import StoreError
from pagekeep.library.open import data_folder
from pagekeep.private_files import make_folder

_SECRET_BYTES: Final = 32


def server_folder(settings: Settings) -> Path:
    """Return the folder of the library, or the default data folder if the library is on a database server."""
    return data_folder(settings)


def server_secret(settings: Settings) -> bytes:
    """Return the server's secret; create it if needed.

    It is stored so that open pages work after a restart, in a file that only its owner can read.
    """
    folder = server_folder(settings)
    path = folder / "server.secret"
    try:
        return _check_length(path.read_bytes())
    except FileNotFoundError:
        make_folder(folder)
    secret = secrets.token_bytes(_SECRET_BYTES)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secret)
    try:
        os.link(draft, path)  # unlike a rename, this fails if another process was faster
    except FileExistsError:
        secret = _check_length(path.read_bytes())
    finally:
        draft.unlink()
    return secret


def _check_length(secret: bytes) -> bytes:
    """Reject a short secret, with which anyone could forge signatures."""
    if len(secret) < _SECRET_BYTES:
        raise StoreError(
            "The file server.secret is damaged.", suggestions=("Delete it; the server creates a new one.",)
        )
    return secret
