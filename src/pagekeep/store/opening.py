"""Opening a library wherever it is kept."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pagekeep.errors import StoreError
from pagekeep.store.tables.accounts import Accounts
from pagekeep.store.user_store import Store

LOCAL_USER: Final = "local"
"""The user of a library that nobody else uses."""
_POSTGRES: Final = ("postgresql://", "postgres://")
_LONGEST_USER: Final = 200


def open_store(
    where: str | Path | None, user_id: str = LOCAL_USER, *, keep_raw: bool = True, workers: bool = False
) -> Store:
    """A user's library: a path for SQLite, `postgresql://...` for PostgreSQL, `None` for the platform's usual place.

    `keep_raw=False` keeps no raw pages. With `workers`, jobs of all users are leased.
    """
    if not user_id or len(user_id) > _LONGEST_USER or not user_id.isprintable():
        raise StoreError("That is no name for a user.")
    if isinstance(where, str) and where.startswith(_POSTGRES):
        from pagekeep.store.postgres import PostgresEngine

        return Store(PostgresEngine(where, user_id, everyone=workers), keep_raw=keep_raw)
    from pagekeep.store.sqlite import SqliteEngine

    path = default_library() if where is None else Path(where)
    return Store(SqliteEngine(path, user_id, everyone=workers), keep_raw=keep_raw)


def open_accounts(where: str | Path | None) -> Accounts:
    """Who may use the server that keeps its libraries there."""
    if isinstance(where, str) and where.startswith(_POSTGRES):
        from pagekeep.store.postgres import DOOR_ROLE, PostgresEngine

        return Accounts(PostgresEngine(where, LOCAL_USER, role=DOOR_ROLE))
    from pagekeep.store.sqlite import SqliteEngine

    return Accounts(SqliteEngine(default_library() if where is None else Path(where), LOCAL_USER))


def install_library(where: str, sign_in: str | None = None) -> None:
    """Make or update a library on a PostgreSQL server, as its owner; let the role use it by which a server signs in."""
    if not where.startswith(_POSTGRES):
        raise StoreError("Only a library on a PostgreSQL server is installed.", suggestions=("postgresql://...",))
    from pagekeep.store import postgres

    postgres.install(where)
    if sign_in is not None:
        postgres.let_use(where, sign_in)


def default_library(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Where the library is kept when nobody says otherwise."""
    if platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "pagekeep" / "library.db"
