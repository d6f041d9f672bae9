"""Finding damage in a library file, for `backup`, `doctor` and the health check."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Final

from pagekeep.store.backup import dump
from pagekeep.store.packing import is_intact

MAX_FAULTS: Final = 20
"""Faults that are listed: one damaged page often causes hundreds."""
MAX_QUICK_SECONDS: Final = 2.0
"""Time for the check of a running server: enough for about 200 MB."""
REPAIR: Final = "Run `pagekeep repair LIBRARY` to save everything that can still be read into a new library."
_TEXTS: Final = "SELECT id, url, url_full, title, author, content, metadata FROM items"


def find_damage(connection: sqlite3.Connection) -> list[str]:
    """Return what is damaged in the file: its structure, texts that cannot be decoded, and raw pages whose hash is wrong."""
    return _find(connection, _structure, _texts, _raw_pages)


def find_broken_rows(connection: sqlite3.Connection) -> list[str]:
    """Return what is damaged in the file such that it cannot be used: its structure, and values that cannot be decoded.

    The texts of items are left out: their hashes are compared, and they can be taken from a backup.
    """
    return _find(connection, _structure, _values)


def _find(connection: sqlite3.Connection, *checks: Callable[[sqlite3.Connection], Iterator[str]]) -> list[str]:
    faults: list[str] = []
    for check in checks:
        try:
            for fault in check(connection):
                faults.append(fault)
                if len(faults) >= MAX_FAULTS:
                    return faults
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # also of SQLite's own message
            if (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise  # the caller tries again
            faults.append(str(error))
    return faults


def has_broken_structure(connection: sqlite3.Connection, seconds: float = MAX_QUICK_SECONDS) -> bool:
    """Return whether a quick check finds a fault; it ends after some time, with those parts checked that it reached."""
    deadline = monotonic() + seconds
    connection.set_progress_handler(lambda: int(monotonic() > deadline), 10_000)
    try:
        return bool(connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",))
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return False
        raise
    finally:
        connection.set_progress_handler(None, 0)


def _structure(connection: sqlite3.Connection) -> Iterator[str]:
    for (text,) in connection.execute(f"PRAGMA integrity_check({MAX_FAULTS})"):
        if text != "ok":
            yield from str(text).splitlines()


def _texts(connection: sqlite3.Connection) -> Iterator[str]:
    """Read all texts of items: decoding raises an error at the first that is not UTF-8."""
    if has_table(connection, "items"):
        for row in connection.execute(_TEXTS):
            if not row[0]:
                yield f"The item {row[0]} is damaged."


def _values(connection: sqlite3.Connection) -> Iterator[str]:
    """Read all rows that are part of a backup: decoding raises an error at the first text that is not UTF-8."""
    for table, (_, columns) in dump.TABLES.items():
        found = {name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")} - {"body", "content"}
        names = [name for name in columns if name in found]  # old libraries lack some
        if names:
            for row in connection.execute(f"SELECT {', '.join(names)} FROM {table}"):
                if row[0] is None:
                    yield f"A row of `{table}` has no owner."


def _raw_pages(connection: sqlite3.Connection) -> Iterator[str]:
    if not has_table(connection, "raw_bodies"):
        return
    for name, packed in connection.execute("SELECT hash, body FROM raw_bodies"):
        if not is_intact(name, "zstd", packed):
            yield f"The raw page {name:.12} is damaged."


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Return whether a table exists: old libraries lack some."""
    rows = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,))
    return rows.fetchone() is not None
