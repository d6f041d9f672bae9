"""Opening a library in a file or on a database server."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pagekeep import extras
from pagekeep.errors import StoreError
from pagekeep.store.tables.accounts import Accounts
from pagekeep.store.text_stamp import Sign
from pagekeep.store.user_store import Store

LOCAL_USER: Final = "local"
"""The user of a library without accounts."""
_POSTGRES: Final = ("postgresql://", "postgres://")
_MAX_USER_CHARS: Final = 200


def open_store(
    where: str | Path | None,
    user_id: str = LOCAL_USER,
    *,
    keep_raw: bool = True,
    workers: bool = False,
    sign: Sign | None = None,
) -> Store:
    """Open a user's library: a path for SQLite, `postgresql://...` for PostgreSQL, `None` for the platform's default.

    `keep_raw=False` stores no raw pages. With `workers`, jobs of all users are leased. `sign` signs the receipts of texts.
    """
    if not user_id or len(user_id) > _MAX_USER_CHARS or not user_id.isprintable():
        raise StoreError(
            "This is not a valid user name.", suggestions=(f"Use 1 to {_MAX_USER_CHARS} printable characters.",)
        )
    if isinstance(where, str) and where.startswith(_POSTGRES):
        _require_postgres()
        from pagekeep.store.postgres import PostgresEngine

        return Store(PostgresEngine(where, user_id, everyone=workers, sign=sign), keep_raw=keep_raw)
    from pagekeep.store.sqlite import SqliteEngine

    path = default_library() if where is None else Path(where)
    return Store(SqliteEngine(path, user_id, everyone=workers, sign=sign), keep_raw=keep_raw)


def open_accounts(where: str | Path | None) -> Accounts:
    """Open the accounts of a shared server, which are stored beside its libraries."""
    if isinstance(where, str) and where.startswith(_POSTGRES):
        _require_postgres()
        from pagekeep.store.postgres import PostgresEngine
        from pagekeep.store.postgres_errors import DOOR_ROLE

        return Accounts(PostgresEngine(where, LOCAL_USER, role=DOOR_ROLE))
    from pagekeep.store.sqlite import SqliteEngine

    return Accounts(SqliteEngine(default_library() if where is None else Path(where), LOCAL_USER))


def install_library(where: str, sign_in: str | None = None) -> None:
    """Create or update the library on a PostgreSQL server as its owner, and let the role `sign_in` use it."""
    if not where.startswith(_POSTGRES):
        raise StoreError(
            "Only a library on a PostgreSQL server needs to be installed.",
            suggestions=("Give its address: postgresql://...",),
        )
    _require_postgres()
    from pagekeep.store import postgres

    postgres.install(where)
    if sign_in is not None:
        postgres.let_use(where, sign_in)


def _require_postgres() -> None:
    extras.require("postgres", "A library on PostgreSQL", error=StoreError)


def default_library(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Return where the library is stored by default."""
    if platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "pagekeep" / "library.db"
