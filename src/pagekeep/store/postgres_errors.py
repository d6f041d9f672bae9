"""Failures of PostgreSQL in our words, and the roles that they name."""

from __future__ import annotations

from typing import Final, NoReturn

import psycopg
from psycopg import errors

from pagekeep.errors import StoreError
from pagekeep.store.search.query import took_too_long

APP_ROLE: Final = "pagekeep_app"
WORKER_ROLE: Final = "pagekeep_worker"
DOOR_ROLE: Final = "pagekeep_door"


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
    elif isinstance(error, psycopg.OperationalError):
        message, suggestion = "The database cannot be reached.", "Check its address, and that it is running."
    raise StoreError(message, suggestions=(suggestion,)) from error
