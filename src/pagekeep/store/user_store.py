"""The store of one user's library, the same on both engines, and how it is opened in a file or on a database server."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pagekeep import extras
from pagekeep.errors import StoreError
from pagekeep.store.backup import backup_folder
from pagekeep.store.backup.backup_folder import FolderReport
from pagekeep.store.backup.damage import BackupReport
from pagekeep.store.backup.restoring import Restoring
from pagekeep.store.engine import Engine
from pagekeep.store.storable import Sign
from pagekeep.store.tables.accounts import Accounts
from pagekeep.store.tables.actions import Actions, SaveRules
from pagekeep.store.tables.blobs import Blobs
from pagekeep.store.tables.changes import Changes
from pagekeep.store.tables.counts import Counts
from pagekeep.store.tables.crawls import Crawls
from pagekeep.store.tables.entries import Entries
from pagekeep.store.tables.feeds import Feeds
from pagekeep.store.tables.find import Search
from pagekeep.store.tables.frontier import Frontier
from pagekeep.store.tables.idempotency import Idempotency
from pagekeep.store.tables.items import Items
from pagekeep.store.tables.jobs import Jobs, Uploads
from pagekeep.store.tables.lists import Lists
from pagekeep.store.tables.reading import Annotations, Reading
from pagekeep.store.tables.schedules import Schedules
from pagekeep.store.tables.sinks import Outbox, Sinks
from pagekeep.store.tables.snapshots import Snapshots
from pagekeep.store.tables.tags import Tags


class Store:
    """One user's library. Its parts hold the methods, one part for each group of tables."""

    def __init__(self, engine: Engine, *, keep_raw: bool = True) -> None:
        self._engine = engine
        self.user_id = engine.user_id
        self.items = Items(engine, keep_raw=keep_raw)
        """Items with their raw pages: save, look up, change and delete them."""
        self.tags = Tags(engine)
        """Tags as a whole: rename them, and which are in use."""
        self.search = Search(engine)
        """Items by a query, beside an item, or similar to it."""
        self.counts = Counts(engine)
        """Counts of items that the database keeps, and the words of the library."""
        self.annotations = Annotations(engine)
        """Highlights and notes."""
        self.reading = Reading(engine)
        """How far items have been read."""
        self.snapshots = Snapshots(engine)
        """Versions of pages."""
        self.changes = Changes(engine)
        """Changes of watched pages, and when pages were last requested."""
        self.blobs = Blobs(engine)
        """Files that are kept with items."""
        self.jobs = Jobs(engine)
        """The queue: jobs that wait for a worker."""
        self.uploads = Uploads(engine)
        """Parts of uploaded files that wait for their job."""
        self.schedules = Schedules(engine)
        """What is done regularly."""
        self.feeds = Feeds(engine)
        """Subscriptions, and feeds that the user publishes."""
        self.entries = Entries(engine)
        """Entries of feeds: the inbox of subscriptions."""
        self.crawls = Crawls(engine)
        """Crawls, and their pages."""
        self.frontier = Frontier(engine, keep_raw=keep_raw)
        """Addresses of running crawls, which their workers share."""
        self.lists = Lists(engine)
        """Saved searches and manual lists."""
        self.actions = Actions(engine)
        """Changes of items that can be undone."""
        self.save_rules = SaveRules(engine)
        """What happens to new items."""
        self.sinks = Sinks(engine)
        """Where changed items are sent to."""
        self.outbox = Outbox(engine)
        """What waits to be sent."""
        self.idempotency = Idempotency(engine)
        """Responses that are kept for repeated requests."""

    def close(self) -> None:
        """Close files and connections."""
        self._engine.close()

    def watch_connection(self, lost: Callable[[], None], back: Callable[[], None]) -> None:
        """Call `lost` when the connection to a database server is lost, and `back` when it answers again, in any thread."""
        self._engine.watch(lost, back)

    def backup(self, path: str) -> BackupReport:
        """Write a consistent copy while others write (SQLite: one file; PostgreSQL: a dump that our restore reads)."""
        return self._engine.backup(path)

    def backup_folder(self, folder: Path, now: str, files: Mapping[str, bytes]) -> FolderReport:
        """Add the library as it is now, with some files of the settings, to a backup folder, while others write."""
        return backup_folder.write(self._engine, folder, now, files)

    def restore_folder(self, folder: Path, state: Mapping[str, Any], *, what_can_be: bool = False) -> Restoring:
        """Restore a state of a backup folder into this empty library; with `what_can_be`, everything in it that is sound."""
        return backup_folder.restore(self._engine, folder, state, what_can_be=what_can_be)

    @property
    def writable(self) -> bool:
        """Whether the library can be changed, and not only read."""
        return self._engine.writable

    def probe(self) -> None:
        """Raise `StoreError` when the library is damaged or cannot be written, as far as a quick check finds out."""
        self._engine.probe()

    def check(self) -> list[str]:
        """Return the faults found in the library and its database; none when all is well."""
        return [*self._engine.faults(), *self.items.faults(), *self.blobs.faults(), *self.counts.faults()]


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
        from pagekeep.store.postgres_pool import DOOR_ROLE

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
