"""Opening a library, and looking after its database and files: the only way that doors reach the store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Final, TypeVar

from pagekeep import clock
from pagekeep.config import Settings
from pagekeep.errors import DatabaseUnreachable, StoreError
from pagekeep.library.signatures import KEY_FILE, Signer
from pagekeep.model import Collected
from pagekeep.store import LOCAL_USER, Store, default_library, install_library, open_store
from pagekeep.store.salvage import Salvage, salvage

__all__ = [
    "GRACE_SECONDS",
    "LOCAL_USER",
    "Salvage",
    "Store",
    "check",
    "data_folder",
    "install_library",
    "is_writable",
    "library_path",
    "open_library",
    "outlast",
    "remove_unused",
    "repair",
    "require_writable",
]


T = TypeVar("T")
_MAX_PAUSE: Final = 30.0
"""Seconds between two attempts to reach a database server that stays away; the first pause is one second."""


def open_library(settings: Settings, user: str | None = None, *, workers: bool = False) -> Store:
    """Open the library that the settings name, of their user unless another is given; close it after use.

    With `workers`, it gives jobs of all users.
    """
    sign = Signer(data_folder(settings) / KEY_FILE) if settings.sign_receipts else None
    return open_store(settings.library, user or settings.user, keep_raw=settings.keep_raw, workers=workers, sign=sign)


def library_path(settings: Settings) -> Path | None:
    """Return the library's file; `None` when it is on a database server."""
    where = settings.library
    if where is None:
        return default_library()
    return None if "://" in where else Path(where)


def data_folder(settings: Settings) -> Path:
    """Return the folder of the library's file, or the platform's data folder when the library is on a database server."""
    return (library_path(settings) or default_library()).parent


def is_writable(store: Store) -> bool:
    """Return whether the library can be changed, and not only read."""
    return store.writable


def require_writable(settings: Settings) -> None:
    """Raise `StoreError` when the library cannot be opened or is read-only."""
    with closing(open_library(settings)) as store:
        if not store.writable:
            raise StoreError(
                "The library is read-only, and a server must write to it.",
                suggestions=("Check the permissions of its file and folder.",),
            )


async def outlast(work: Callable[[], Awaitable[T]], stopping: asyncio.Event) -> T:
    """Return the result of the work. While the database server does not answer, run it again, with growing pauses.

    It ends with `DatabaseUnreachable` only when `stopping` is set. The work must be such that it can be run again.
    """
    for number in count():
        try:
            return await work()
        except DatabaseUnreachable:
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), min(2.0**number, _MAX_PAUSE))
            if stopping.is_set():
                raise
    raise AssertionError("the loop has no end")


def check(store: Store) -> list[str]:
    """Return the faults found in the library and its database; none when all is well. Wrong counts are counted again."""
    if is_writable(store):
        store.counts.recount()
    return store.check()


def repair(source: Path, target: Path) -> Salvage:
    """Save everything that can be read of a damaged library file into a new library; the damaged file stays as it is."""
    return salvage(source, target)


GRACE_SECONDS: Final = 7 * 86_400
"""How long a file is kept that no item uses: a page that was deleted by mistake may come back from elsewhere."""


def remove_unused(store: Store, *, at_once: bool = False, sweep: bool = True) -> Collected:
    """Remove kept files that no item has used for a week; with `at_once`, all that no item uses.

    With `sweep`, the whole folder is searched for files that a killed process left.
    """
    now = clock.now()
    before = now if at_once else clock.add_seconds(now, -GRACE_SECONDS)
    return store.blobs.collect(now, before, at_once=at_once, sweep=sweep)
