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
from pagekeep.store.storable import Sign
from pagekeep.store.tables.accounts import Accounts
from pagekeep.store.tables.actions import ActionTable, SaveRuleTable
from pagekeep.store.tables.batch import BatchTable, TagTable
from pagekeep.store.tables.blobs import BlobTable
from pagekeep.store.tables.changes import ChangeTable
from pagekeep.store.tables.counts import CountTable, StatisticsTable, VocabularyTable
from pagekeep.store.tables.crawls import CrawlTable
from pagekeep.store.tables.entries import EntryTable
from pagekeep.store.tables.feeds import FeedTable
from pagekeep.store.tables.find import FindTable, NeighbourTable, SimilarTable
from pagekeep.store.tables.frontier import FrontierTable
from pagekeep.store.tables.idempotency import IdempotencyTable
from pagekeep.store.tables.items import ItemTable, NumberTable
from pagekeep.store.tables.jobs import JobTable, UploadTable
from pagekeep.store.tables.lists import ListTable
from pagekeep.store.tables.reading import AnnotationSearchTable, AnnotationTable, ReadingTable
from pagekeep.store.tables.schedules import ScheduleTable
from pagekeep.store.tables.sinks import OutboxTable, SinkTable
from pagekeep.store.tables.snapshots import SnapshotTable


class Store(
    ItemTable,
    BatchTable,
    FindTable,
    CountTable,
    VocabularyTable,
    NumberTable,
    AnnotationTable,
    AnnotationSearchTable,
    ReadingTable,
    NeighbourTable,
    SimilarTable,
    JobTable,
    ScheduleTable,
    FeedTable,
    EntryTable,
    SnapshotTable,
    ChangeTable,
    IdempotencyTable,
    StatisticsTable,
    UploadTable,
    BlobTable,
    CrawlTable,
    FrontierTable,
    ListTable,
    SaveRuleTable,
    ActionTable,
    TagTable,
    SinkTable,
    OutboxTable,
):
    """A user's library; the base classes hold its methods, one for each group of tables."""

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
        return [*self._engine.faults(), *self.faults(), *self.blob_faults(), *self.count_faults()]


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
