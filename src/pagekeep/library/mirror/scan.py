"""Find out which file belongs to which item, and what has happened to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pagekeep.library.mirror import folder as files
from pagekeep.library.mirror import writing
from pagekeep.library.mirror.folder import FileContent, FileStat
from pagekeep.library.mirror.records import Record


@dataclass(slots=True)
class FolderState:
    """The files of the folder by item id, sorted by what has happened to them."""

    untouched: dict[str, FileStat] = field(default_factory=dict)
    """Files that are as the mirror wrote them."""
    touched: dict[str, FileContent] = field(default_factory=dict)
    """Files of the mirror that may have been changed or moved."""
    unrecorded: dict[str, FileContent] = field(default_factory=dict)
    """Files that name an item but have no record."""
    emptied: dict[str, FileContent] = field(default_factory=dict)
    """Files of the mirror without content, as the crash of an editor leaves them."""
    unreadable: dict[str, FileContent] = field(default_factory=dict)
    """Files of the mirror that cannot be read."""
    waiting: dict[str, str] = field(default_factory=dict)
    """Paths of files that a program may still be writing."""
    unnamed: list[str] = field(default_factory=list)
    """Paths of other files that a program may still be writing: one of them may be a file that was moved."""
    names: set[str] = field(default_factory=set)
    """Paths of all files, in lower case."""
    removed: list[str] = field(default_factory=list)
    """Paths of files that the scan removed."""

    def knows(self, item_id: str) -> bool:
        """Return whether the item has a file at the path of its record."""
        places = (self.untouched, self.touched, self.unreadable, self.waiting)
        return any(item_id in place for place in places)


def scan_folder(folder: Path, records: Mapping[str, Record], now: Callable[[], int]) -> FolderState:
    """Return the files of the folder."""
    return _Scan(folder, records, now).run()


def read_untouched(folder: Path, record: Record) -> FileContent | None:
    """Return the file at the record's path if it is as the mirror wrote it."""
    stat = files.stat_file(folder, record.path)
    file = files.read_file(folder, stat) if stat else None
    return file if file and file.digest in record.digests else None


class _Scan:
    def __init__(self, folder: Path, records: Mapping[str, Record], now: Callable[[], int]) -> None:
        self._folder, self._records, self._now = folder, records, now
        self._state = FolderState()

    def run(self) -> FolderState:
        by_path = {record.path: record for record in self._records.values()}
        unknown: list[FileContent] = []
        for stat in files.list_files(self._folder):
            self._state.names.add(stat.path.casefold())
            record = by_path.get(stat.path)
            if record and (record.size, record.mtime) == (stat.size, stat.mtime):
                self._state.untouched[record.id] = stat
                continue
            file = files.read_file(self._folder, stat)
            if file is None:
                continue
            if record is None or (file.document and file.document.id not in (None, record.id)):
                unknown.append(file)
            else:
                self._sort_known(record, file)
        for file in unknown:
            self._sort_unknown(file)
        return self._state

    def _sort_known(self, record: Record, file: FileContent) -> None:
        if file.digest in record.digests:
            self._state.touched[record.id] = replace(file, data=b"")  # not needed: memory for a large library
        elif files.is_young(file.stat, self._now()):
            self._state.waiting[record.id] = file.stat.path
        elif file.document is None:
            self._state.unreadable[record.id] = file
        elif file.document.id is None and not file.document.body.strip():
            self._state.emptied[record.id] = file
        else:
            self._state.touched[record.id] = file

    def _sort_unknown(self, file: FileContent) -> None:
        """Sort a file at an unknown path: moved, or naming an item. A copy of a file that still exists is ignored."""
        state, item_id = self._state, file.document.id if file.document else None
        is_young = files.is_young(file.stat, self._now())
        if item_id is None:
            if is_young:
                state.unnamed.append(file.stat.path)
            return
        record = self._records.get(item_id)
        if state.knows(item_id) and not (record and self._remove_twin(record, file)):
            return
        if is_young and not (record and file.digest in record.digests):
            state.waiting[item_id] = file.stat.path
        elif record:
            state.touched[item_id] = file
        else:
            state.unrecorded.setdefault(item_id, file)

    def _remove_twin(self, record: Record, file: FileContent) -> bool:
        """Remove the file that a pass wrote because the user moved the original at the same time."""
        inode = file.stat.inode
        if not inode or inode != record.lost_inode:
            return False
        twin = read_untouched(self._folder, record)
        if twin is None or twin.stat.inode == inode or not writing.remove(self._folder, record.id, twin):
            return False
        self._state.untouched.pop(record.id, None)
        self._state.touched.pop(record.id, None)
        self._state.removed.append(twin.stat.path)
        return True
