"""The store: one user's library, the same on both engines. One test suite runs on both.

Every method sees and changes that user's rows only. Times are ISO 8601 in UTC (`2025-03-19T10:30:00.123456Z`) and come from
the caller. All failures are `StoreError`, or `NotFound` for what does not exist. What a method has returned survives a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pagekeep.store.backup import backup_folder
from pagekeep.store.backup.backup_folder import FolderReport
from pagekeep.store.backup.damage import BackupReport
from pagekeep.store.backup.restoring import Restoring
from pagekeep.store.tables.annotations import AnnotationTable
from pagekeep.store.tables.batch import BatchTable
from pagekeep.store.tables.blobs import BlobTable
from pagekeep.store.tables.browse.counts import CountTable
from pagekeep.store.tables.browse.vocabulary import VocabularyTable
from pagekeep.store.tables.changes import ChangeTable
from pagekeep.store.tables.crawls.crawls import CrawlTable
from pagekeep.store.tables.crawls.frontier import FrontierTable
from pagekeep.store.tables.feeds.entries import EntryTable
from pagekeep.store.tables.feeds.subscriptions import FeedTable
from pagekeep.store.tables.find import FindTable
from pagekeep.store.tables.idempotency import IdempotencyTable
from pagekeep.store.tables.items import ItemTable
from pagekeep.store.tables.jobs import JobTable
from pagekeep.store.tables.lists.actions import ActionTable
from pagekeep.store.tables.lists.lists import ListTable
from pagekeep.store.tables.lists.save_rules import SaveRuleTable
from pagekeep.store.tables.numbers import NumberTable
from pagekeep.store.tables.reading.annotation_search import AnnotationSearchTable
from pagekeep.store.tables.reading.neighbours import NeighbourTable
from pagekeep.store.tables.reading.similar import SimilarTable
from pagekeep.store.tables.reading.states import ReadingTable
from pagekeep.store.tables.schedules import ScheduleTable
from pagekeep.store.tables.sinks.outbox import OutboxTable
from pagekeep.store.tables.sinks.sinks import SinkTable
from pagekeep.store.tables.snapshots import SnapshotTable
from pagekeep.store.tables.statistics import StatisticsTable
from pagekeep.store.tables.tags import TagTable
from pagekeep.store.tables.uploads import UploadTable


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
