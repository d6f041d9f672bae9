"""Synchronise a folder with the library: apply changes in the folder to the library, and the other way round."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from pagekeep.errors import NotFound, StoreError
from pagekeep.library.exports import markdown_files
from pagekeep.library.exports.file_names import file_name
from pagekeep.library.exports.markdown_files import KNOWN_FIELDS, Document, Profile
from pagekeep.library.exports.run import write_file
from pagekeep.library.mirror import edits
from pagekeep.library.mirror import folder as files
from pagekeep.library.mirror.folder import FileContent, FileStat
from pagekeep.library.mirror.records import Record, Records, lock_folder
from pagekeep.model import Item
from pagekeep.store import Store

_MIN_AGE_NS: Final = 2_000_000_000
"""Some file systems store times to two seconds: a file this new may change again without a new time."""
_PAUSE_FACTOR: Final = 9
"""The pause between passes, in lengths of a pass."""
_ID: Final = re.compile(r"\A(---\n(?:.*\n)*?)id: .*\n")


@dataclass(slots=True)
class MirrorReport:
    """What a pass did, by file name."""

    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    """Files whose changes were applied to the library."""
    renamed: list[str] = field(default_factory=list)
    kept_aside: list[str] = field(default_factory=list)
    """Copies of files whose changes could not be merged."""
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Files that cannot be read, and why. They are not touched."""

    @property
    def changed(self) -> bool:
        """Whether the pass changed anything."""
        return bool(self.written or self.removed or self.taken or self.renamed or self.kept_aside)


def mirror(store: Store, folder: Path, profile: Profile = "pagekeep") -> MirrorReport:
    """Run one pass. After an interrupted pass, the next one completes it."""
    with _translate_disk_errors():
        folder.mkdir(parents=True, exist_ok=True)
        with lock_folder(folder):
            return _Mirror(store, folder, profile).run()


@dataclass(slots=True)
class _FolderState:
    """The files of the folder by item id, sorted by what has happened to them."""

    untouched: dict[str, FileStat] = field(default_factory=dict)
    """Files that are as the mirror wrote them."""
    touched: dict[str, FileContent] = field(default_factory=dict)
    """Files of the mirror that may have been changed or moved."""
    unrecorded: dict[str, FileContent] = field(default_factory=dict)
    """Files that name an item but have no record."""
    emptied: dict[str, FileStat] = field(default_factory=dict)
    """Files of the mirror without content, as the crash of an editor leaves them."""
    unreadable: set[str] = field(default_factory=set)
    """Files of the mirror that cannot be read."""


class _Mirror:
    def __init__(self, store: Store, folder: Path, profile: Profile) -> None:
        self._store, self._folder, self._profile = store, folder, profile
        self._records = Records(folder, store.user_id, profile)
        self._report = MirrorReport()
        self._state = _FolderState()
        self._used_names: set[str] = set()

    def run(self) -> MirrorReport:
        self._scan()
        versions = dict(self._store.versions())
        for item_id in [item_id for item_id in self._records.by_id if item_id not in versions]:
            self._remove_file(item_id)
        for item_id, version in versions.items():
            if item_id not in self._state.unreadable:
                self._sync_item(item_id, version)
        self._records.compact()
        return self._report

    # Scanning the folder

    def _scan(self) -> None:
        by_path = {record.path: record for record in self._records.by_id.values()}
        unknown: list[FileContent] = []
        for stat in files.list_files(self._folder):
            self._used_names.add(stat.path.casefold())
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

    def _sort_known(self, record: Record, file: FileContent) -> None:
        if file.document is None:
            self._state.unreadable.add(record.id)
            self._report.problems.append((file.stat.path, file.fault))
        elif file.document.id is None and not file.document.body.strip():
            self._state.emptied[record.id] = file.stat
        else:
            self._state.touched[record.id] = file

    def _sort_unknown(self, file: FileContent) -> None:
        """Sort a file at an unknown path: moved, or naming an item. A copy of a file that still exists is ignored."""
        state, item_id = self._state, file.document.id if file.document else None
        if item_id is None or item_id in state.untouched or item_id in state.touched or item_id in state.unreadable:
            return
        if item_id in self._records.by_id:
            state.touched[item_id] = file
        else:
            state.unrecorded.setdefault(item_id, file)

    # Synchronising one item

    def _remove_file(self, item_id: str) -> None:
        """Remove the file of an item that the library no longer has, unless the user has changed the file."""
        record, file = self._records.by_id[item_id], self._state.touched.get(item_id)
        unchanged = file.stat if file and file.digest in record.digests else None
        stat = self._state.untouched.get(item_id) or unchanged
        if stat is not None and files.stat_file(self._folder, stat.path) == stat:
            (self._folder / stat.path).unlink(missing_ok=True)
            self._report.removed.append(stat.path)
        if item_id not in self._state.unreadable:
            self._records.remove(item_id)

    def _sync_item(self, item_id: str, version: str) -> None:
        record, file = self._records.by_id.get(item_id), self._state.touched.get(item_id)
        if record is None:
            self._add_file(item_id, version)
        elif file is None:
            stat = self._state.untouched.get(item_id) or self._state.emptied.get(item_id)
            stale = version != record.version or self._records.profile_changed
            if stat is None:
                self._restore(record, version)
            elif stale or item_id in self._state.emptied:
                self._write(item_id, version, record.path, stat, record)
        elif file.digest in record.digests:
            self._refresh(record, file, version)
        else:
            self._apply(record, file, version)

    def _restore(self, record: Record, version: str) -> None:
        """Write the file of an item again after the user removed it."""
        item = self._item(record.id)
        if item is not None:
            path = record.path if files.stat_file(self._folder, record.path) is None else self._free_name(item)
            self._write(record.id, version, path, None, record)

    def _add_file(self, item_id: str, version: str) -> None:
        """Write the file of an item without a record: it is new, or its record was lost and the file may exist."""
        file = self._state.unrecorded.get(item_id)
        item = self._item(item_id)
        if item is None:
            return
        if file is None:
            self._write(item_id, version, self._free_name(item), None, None)
            return
        if file.document and files.digest_body(file.document.body) != files.digest_body(
            markdown_files.split_content(item)[1]
        ):
            self._keep_aside(file)
        self._write(item_id, version, file.stat.path, file.stat, None)

    def _refresh(self, record: Record, file: FileContent, version: str) -> None:
        """Update the record of a file that was moved or touched but not edited, and write the file if it is outdated."""
        if file.stat.path != record.path:
            self._report.renamed.append(file.stat.path)
        current = version == record.version and file.digest == record.digests[0]
        if not current or self._records.profile_changed:
            self._write(record.id, version, file.stat.path, file.stat, record)
            return
        self._records.store(_with_file_time(replace(record, path=file.stat.path, digests=(file.digest,)), file.stat))

    def _apply(self, record: Record, file: FileContent, version: str) -> None:
        """Apply the user's changes of a file to the library."""
        document, item = file.document, self._item(record.id)
        if document is None or item is None:
            return
        body = edits.has_changed_body(document, record)
        if body and edits.is_edited_elsewhere(item, record):
            self._keep_aside(file)
            body = False
        edits.apply_edits(self._store, record.id, document, record, self._profile, body=body)
        self._report.taken.append(file.stat.path)
        if file.stat.path != record.path:
            self._report.renamed.append(file.stat.path)
        # An empty version makes the next pass compare again: the library has a new version now.
        self._write(record.id, "", file.stat.path, file.stat, record)

    def _item(self, item_id: str) -> Item | None:
        try:
            return self._store.get(item_id)
        except NotFound:
            return None

    # Writing files

    def _write(self, item_id: str, version: str, path: str, stat: FileStat | None, record: Record | None) -> None:
        item = self._item(item_id)
        if item is None:
            return
        existing = files.read_file(self._folder, stat) if stat else None
        data = self._format(item, existing.document if existing else None).encode("utf-8", "replace")
        document = markdown_files.read(data.decode())
        new_digest = files.digest(data)
        new_record = Record(
            id=item_id,
            path=path,
            digests=(new_digest,),
            version=version,
            body=files.digest_body(document.body),
            tags=document.tags,
            pinned=document.flag("pinned"),
            archived=document.flag("archived"),
            edited=document.flag("edited"),
        )
        if existing is not None and existing.digest == new_digest:
            self._records.store(_with_file_time(new_record, existing.stat))
            return
        if files.stat_file(self._folder, path) != stat:
            return  # changed since it was read: the next pass handles it
        old_digests = [*(record.digests if record else ()), *((existing.digest,) if existing else ())]
        self._records.store(replace(new_record, digests=(new_digest, *old_digests)))
        (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_file(self._folder / path, data)
        self._records.store(new_record)
        self._used_names.add(path.casefold())
        self._report.written.append(path)

    def _format(self, item: Item, existing: Document | None) -> str:
        """Return the new text of a file; the user's own frontmatter fields stay in it."""
        stored, _ = markdown_files.split_content(item)
        fields = existing.fields if existing else {}
        own = {name: value for name, value in fields.items() if name not in KNOWN_FIELDS | stored.keys()}
        return markdown_files.write(item, self._store.annotations(item.id), self._profile, own)

    def _free_name(self, item: Item) -> str:
        for name in (file_name(item.title, item.id), file_name(f"{item.title[:60]} {item.id}", item.id)):
            if name.casefold() not in self._used_names and files.stat_file(self._folder, name) is None:
                return name
        return f"{item.id}.md"

    def _keep_aside(self, file: FileContent) -> None:
        """Copy a file whose changes conflict with the library's; the copy has no id and is never touched again."""
        text = (self._folder / file.stat.path).read_text("utf-8", "replace")
        path = f"{file.stat.path[:-3]} (conflict {file.digest[:8]}).md"
        write_file(self._folder / path, _ID.sub(r"\1", text, count=1).encode("utf-8", "replace"))
        self._report.kept_aside.append(path)


def _with_file_time(record: Record, stat: FileStat) -> Record:
    """Return the record with the file's size, and its time unless the file is too new."""
    is_new = time.time_ns() - stat.mtime < _MIN_AGE_NS
    return replace(record, size=stat.size, mtime=0 if is_new else stat.mtime)


@contextmanager
def _translate_disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"The folder cannot be used: {error.strerror or 'disk error'}.") from None


def watch(
    store: Store,
    folder: Path,
    profile: Profile,
    show: Callable[[MirrorReport], None],
    *,
    seconds: float = 2.0,
    wait: Callable[[float], bool],
) -> None:
    """Run passes at least `seconds` apart, show each report, and return when `wait` returns true.

    The pause grows with the length of a pass, so that a large library takes no more than a tenth of the time.
    """
    while True:
        started = time.monotonic()
        show(mirror(store, folder, profile))
        if wait(max(seconds, _PAUSE_FACTOR * (time.monotonic() - started))):
            return
