"""Failures of SQLite in our words."""

from __future__ import annotations

import sqlite3
from typing import Final, NoReturn

from pagekeep.errors import StoreError
from pagekeep.store.search.query import took_too_long
from pagekeep.store.sqlite_check import REPAIR

_BUSY_CODES: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_PRIMARY_CODE: Final = 0xFF
"""Mask for the primary code of an extended result code."""


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection held a lock, so that the same may work later."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & _PRIMARY_CODE in _BUSY_CODES


_UNEXPECTED: Final = ("The library failed unexpectedly.", "Run `pagekeep doctor`, and report the fault.")
_REASONS: Final[dict[int, tuple[str, str]]] = {
    sqlite3.SQLITE_FULL: ("The disk is full.", "Free some space; nothing that was saved is lost."),
    sqlite3.SQLITE_IOERR: ("The disk could not be read or written.", "Check that it has free space and works."),
    sqlite3.SQLITE_READONLY: (
        "The library is read-only: it can be read, but not changed.",
        "Check the permissions of the file and its folder.",
    ),
    sqlite3.SQLITE_CANTOPEN: ("The library cannot be opened.", "Check the path and its permissions."),
    sqlite3.SQLITE_NOTADB: (
        "The file is not a Pagekeep library, or its beginning is damaged.",
        "Choose another file. To save what can be read of a damaged library: `pagekeep repair LIBRARY`.",
    ),
    sqlite3.SQLITE_CORRUPT: ("The library is damaged.", REPAIR),
    sqlite3.SQLITE_TOOBIG: ("The page is too large to store.", "Save only the part you need."),
}


def refuse(error: sqlite3.Error) -> NoReturn:
    """Raise the error as a `StoreError`."""
    code = (getattr(error, "sqlite_errorcode", None) or 0) & _PRIMARY_CODE
    if code in _BUSY_CODES:
        raise StoreError(
            "Another process has been writing to the library for too long.", suggestions=("Stop it and try again.",)
        ) from error
    if code == sqlite3.SQLITE_INTERRUPT:
        raise took_too_long() from error
    if not code and str(error).startswith("Could not decode to UTF-8"):  # the module gives no code for this
        code = sqlite3.SQLITE_CORRUPT
    refuse_code(code, error)


def refuse_code(code: int, error: Exception | None = None) -> NoReturn:
    """Raise the failure that a primary result code means as a `StoreError`."""
    message, suggestion = _REASONS.get(code, _UNEXPECTED)
    raise StoreError(message, suggestions=(suggestion,)) from error
