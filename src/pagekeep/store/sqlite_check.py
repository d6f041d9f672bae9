"""Finding damage in a library file, for `backup`, `doctor` and the health check."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from time import monotonic
from typing import Final

from pagekeep.errors import StoreError
from pagekeep.store.packing import unpack

MAX_FAULTS: Final = 20
"""Faults that are listed: one damaged page often causes hundreds."""
MAX_QUICK_SECONDS: Final = 2.0
"""Time for the check of a running server: enough for about 200 MB."""
REPAIR: Final = "Run `pagekeep repair LIBRARY` to save everything that can still be read into a new library."
_TEXTS: Final = "SELECT id, url, url_full, title, author, content, metadata FROM items"


def find_damage(connection: sqlite3.Connection) -> list[str]:
    """Return what is damaged in the file: its structure, texts that cannot be decoded, and raw pages whose hash is wrong."""
    faults: list[str] = []
    for check in (_structure, _texts, _raw_pages):
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
    if _has_table(connection, "items"):
        for row in connection.execute(_TEXTS):
            if not row[0]:
                yield f"The item {row[0]} is damaged."


def _raw_pages(connection: sqlite3.Connection) -> Iterator[str]:
    if not _has_table(connection, "raw_bodies"):
        return
    for name, packed in connection.execute("SELECT hash, body FROM raw_bodies"):
        if not is_intact(name, packed):
            yield f"The raw page {name:.12} is damaged."


def is_intact(name: str, packed: bytes) -> bool:
    """Return whether a compressed raw page has the content that its hash names."""
    try:
        return hashlib.sha256(unpack(packed)).hexdigest() == name
    except (StoreError, TypeError, ValueError):
        return False


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    rows = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,))
    return rows.fetchone() is not None
