"""The server's own folder: its secret, and room for pictures."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

from pagekeep.config import Settings
from pagekeep.errors import StoreError
from pagekeep.library.open import data_folder

_SECRET_BYTES: Final = 32


def server_folder(settings: Settings) -> Path:
    """Where the server keeps what is its own: beside the library, or in the data folder when that is on a server."""
    return data_folder(settings)


def server_secret(settings: Settings) -> bytes:
    """A secret that lasts longer than the server: pages that are open in a browser go on working after a restart.

    It is readable by its owner alone.
    """
    folder = server_folder(settings)
    path = folder / "server.secret"
    try:
        return _whole(path.read_bytes())
    except FileNotFoundError:
        folder.mkdir(parents=True, exist_ok=True)
    made = secrets.token_bytes(_SECRET_BYTES)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(made)
    try:
        os.link(draft, path)  # unlike a rename it fails when another process was quicker
    except FileExistsError:
        made = _whole(path.read_bytes())
    finally:
        draft.unlink()
    return made


def _whole(secret: bytes) -> bytes:
    """With a short one anybody could sign in our name."""
    if len(secret) < _SECRET_BYTES:
        raise StoreError("The server's secret is damaged.", suggestions=("Delete the file server.secret.",))
    return secret
