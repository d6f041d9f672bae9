"""Failures of PostgreSQL in our words, and the roles that they name."""

from __future__ import annotations

from typing import Any, Final, NoReturn

import psycopg
from psycopg import errors

from pagekeep.errors import DatabaseUnreachable, StoreError
from pagekeep.store.search.query import took_too_long

APP_ROLE: Final = "pagekeep_app"
WORKER_ROLE: Final = "pagekeep_worker"
DOOR_ROLE: Final = "pagekeep_door"
_LOST: Final = frozenset({"57P01", "57P02", "57P03", "57P05"})
"""What a server that stops, crashes or starts says before it ends a connection."""


def is_lost(error: psycopg.Error, connection: psycopg.Connection[Any]) -> bool:
    """Return whether the connection was lost, so that it is not the statement that failed."""
    state = error.sqlstate
    return connection.closed or (state is not None and (state in _LOST or state.startswith("08")))


def unreachable(message: str = "The database server does not answer.") -> DatabaseUnreachable:
    """Return the error of a lost connection."""
    return DatabaseUnreachable(message)


def refuse(error: psycopg.Error) -> NoReturn:
    """Raise the error as a `StoreError`."""
    message, suggestion = "The library failed unexpectedly.", "Run `pagekeep doctor`, and report the fault."
    if isinstance(error, errors.QueryCanceled):
        raise took_too_long() from error
    if isinstance(error, errors.DiskFull):
        message, suggestion = "The database's disk is full.", "Free some space; nothing that was saved is lost."
    elif isinstance(error, (errors.InsufficientPrivilege, errors.InvalidParameterValue)):
        message = f"This database role may not act as {APP_ROLE}, {WORKER_ROLE} or {DOOR_ROLE}."
        suggestion = "As the owner, run: pagekeep library install URL --for ROLE"
    elif isinstance(error, (errors.UndefinedTable, errors.UndefinedFunction, errors.UndefinedObject)):
        message, suggestion = (
            "The database has no library of this version.",
            "As the owner, run: pagekeep library install URL",
        )
    elif error.sqlstate is None and isinstance(error, psycopg.OperationalError):
        message = "The database cannot be reached."
        suggestion = "Check its address, the name of the user and the password, and that it is running."
    elif error.sqlstate is not None and error.sqlstate.startswith("53"):
        message = "The database server has too little memory, or too many connections."
        suggestion = "Try again later."
    raise StoreError(message, suggestions=(suggestion,)) from error
