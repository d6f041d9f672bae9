"""Synchronise a folder with the library: apply changes in the folder to the library, and the other way round."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from pagekeep.errors import NotFound, StoreError
from pagekeep.library.exports import markdown_files
from pagekeep.library.exports.markdown_files import KNOWN_FIELDS, REVISION_FIELD, Document, Profile, file_name
from pagekeep.library.mirror import changes, writing
from pagekeep.library.mirror import folder as files
from pagekeep.library.mirror import folder as pictures
from pagekeep.library.mirror.changes import FolderState, read_untouched, scan_folder
from pagekeep.library.mirror.folder import FileContent, FileStat
from pagekeep.library.mirror.records import Record, Records, lock_folder
from pagekeep.library.mirror.writing import ReplacedFile
from pagekeep.model import Annotation, Item
from pagekeep.store import Store

_PAUSE_FACTOR: Final = 9
"""The pause between passes, in lengths of a pass."""
_MAX_WAITS: Final = 5
"""How often one run waits for files that are being written: ten seconds in all."""
_FILE_FIELDS: Final = re.compile(r"^(?:id|mirror_revision): .*\n", re.MULTILINE)


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
    waiting: list[str] = field(default_factory=list)
    """Files so new that a program may still be writing them. A later pass handles them."""

    @property
    def changed(self) -> bool:
        """Whether the pass changed anything."""
        return bool(self.written or self.removed or self.taken or self.renamed or self.kept_aside)


def mirror(
    store: Store,
    folder: Path,
    profile: Profile = "pagekeep",
    *,
    now: Callable[[], int] = time.time_ns,
    wait: Callable[[float], object] = time.sleep,
) -> MirrorReport:
    """Synchronise once, waiting a few seconds for files that are being written."""
    report = run_pass(store, folder, profile, now=now)
    for _ in range(_MAX_WAITS):
        if not report.waiting:
            return report
        wait(files.MIN_AGE_NS / 1e9)
        report = _join(report, run_pass(store, folder, profile, now=now))
    report.problems += [(path, "The file is being written. Run the mirror again.") for path in report.waiting]
    return report


def run_pass(
    store: Store, folder: Path, profile: Profile = "pagekeep", *, now: Callable[[], int] = time.time_ns
) -> MirrorReport:
    """Run one pass. After an interrupted pass, the next one completes it."""
    with _translate_disk_errors():
        folder.mkdir(parents=True, exist_ok=True)
        with lock_folder(folder):
            return _Mirror(store, folder, profile, now).run()


def _join(first: MirrorReport, second: MirrorReport) -> MirrorReport:
    """Return what two passes did; problems and waiting files are those of the second."""
    names = ("written", "removed", "taken", "renamed", "kept_aside")
    return replace(
        second, **{name: list(dict.fromkeys(getattr(first, name) + getattr(second, name))) for name in names}
    )


class _Mirror:
    def __init__(self, store: Store, folder: Path, profile: Profile, now: Callable[[], int]) -> None:
        self._store, self._folder, self._profile, self._now = store, folder, profile, now
        self._records = Records(folder, store.user_id, profile)
        self._report = MirrorReport()
        self._state = FolderState()

    def run(self) -> MirrorReport:
        self._recover_edits()
        self._scan()
        versions = dict(self._store.items.versions())
        for item_id in [item_id for item_id in self._records.by_id if item_id not in versions]:
            self._remove_file(item_id)
        missing = [item_id for item_id, version in versions.items() if not self._sync_item(item_id, version)]
        if missing:
            self._scan()  # a file that was moved during the first scan is not missing
            for item_id in missing:
                if not self._sync_item(item_id, versions[item_id]):
                    self._create_file(item_id, versions[item_id])
        self._report.problems += [(file.stat.path, file.fault) for file in self._state.unreadable.values()]
        self._report.waiting += self._state.waiting.values()
        self._records.compact()
        return self._report

    # Finding edits in replaced files

    def _recover_edits(self) -> None:
        """Apply what programs wrote into files that the mirror had just replaced."""
        parents = {record.path.rpartition("/")[0] for record in self._records.by_id.values()}
        for old in writing.list_replaced(self._folder, parents, self._now()):
            file = files.read_file(self._folder, old.stat) if old.changed else None
            if file:
                if files.is_young(old.stat, self._now()):
                    self._report.waiting.append(old.stat.path)
                    continue
                if not file.digest:
                    self._move_aside(old)
                    continue
                if file.data.strip():
                    self._recover_edit(old.item_id, file)
                writing.keep_replaced(old, file)
            elif old.expired:
                old.path.unlink(missing_ok=True)

    def _move_aside(self, old: ReplacedFile) -> None:
        """Make a replaced file that is too large to be read a conflict copy."""
        record = self._records.by_id.get(old.item_id)
        title = Path(record.path).stem if record else old.item_id
        name = f"{title} (conflict {old.stat.inode:x}).md"
        if writing.move_out(old, name):
            self._report.kept_aside.append(name)

    def _recover_edit(self, item_id: str, file: FileContent) -> None:
        record, item = self._records.by_id.get(item_id), self._item(item_id)
        if record is None or item is None or file.document is None or self._has_other_edit(record, file):
            self._keep_aside(file, record.path if record else f"{item_id}.md")
        else:
            self._merge(record, item, file, file.document, record.path)

    def _has_other_edit(self, record: Record, file: FileContent) -> bool:
        """Return whether the file in its place has another text of the user that is not newer: both are kept then."""
        stat = files.stat_file(self._folder, record.path)
        if stat is None or stat.mtime > file.stat.mtime:
            return False
        current = files.read_file(self._folder, stat)
        if current is None or current.document is None or not current.document.body.strip():
            return False
        known = {file.document and files.digest_body(file.document.body), *(base.body for base in record.bases)}
        return files.digest_body(current.document.body) not in known

    # Synchronising one item

    def _remove_file(self, item_id: str) -> None:
        """Remove the file of an item that the library no longer has, unless the user has changed the file."""
        record, state = self._records.by_id[item_id], self._state
        if item_id in state.unreadable or item_id in state.waiting:
            return
        file = state.touched.get(item_id)
        if item_id in state.untouched:
            file = read_untouched(self._folder, record)
        if file and file.digest in record.digests and writing.remove(self._folder, item_id, file):
            self._report.removed.append(file.stat.path)
        self._records.remove(item_id)

    def _sync_item(self, item_id: str, version: str) -> bool:
        """Synchronise an item with its file; return false when it has none."""
        record, state = self._records.by_id.get(item_id), self._state
        file, stat = state.touched.get(item_id), state.untouched.get(item_id)
        if item_id in state.unreadable or item_id in state.waiting:
            return True
        if record is None:
            return item_id in state.unrecorded and self._adopt(state.unrecorded[item_id], item_id, version)
        if file is not None:
            if file.digest in record.digests:
                self._refresh(record, file, version)
            else:
                self._apply(record, file)
        elif stat is not None:
            if version != record.version or self._records.profile_changed:
                current = read_untouched(self._folder, record)
                if current is None:  # changed without a new time: the next pass reads it
                    self._records.store(replace(record, size=0, mtime=0))
                self._write(item_id, version, current, record)
        elif item_id in state.emptied:
            self._write(item_id, version, state.emptied[item_id], record)
        else:
            return False
        return True

    def _create_file(self, item_id: str, version: str) -> None:
        """Write the file of an item that has none: it is new, or the user removed its file."""
        record, item = self._records.by_id.get(item_id), self._item(item_id)
        if item is None:
            return
        if record is not None and self._state.unnamed:
            self._report.waiting.append(record.path)  # one of the files being written may be this one, moved
            return
        is_free = record is not None and files.stat_file(self._folder, record.path) is None
        path = record.path if record and is_free else self._free_name(item)
        self._write(item_id, version, None, record, path)

    def _adopt(self, file: FileContent, item_id: str, version: str) -> bool:
        """Write over a file that names an item but has no record, because the mirror's records were lost."""
        item = self._item(item_id)
        if item and file.document:
            body = markdown_files.split_content(item)[1]
            if files.digest_body(file.document.body) != files.digest_body(body):
                self._keep_aside(file, file.stat.path)
            self._write(item_id, version, file, None)
        return True

    def _refresh(self, record: Record, file: FileContent, version: str) -> None:
        """Update the record of a file that was moved or touched but not edited, and write the file if it is outdated."""
        if file.stat.path != record.path:
            self._report.renamed.append(file.stat.path)
        current = version == record.version and file.digest == record.digests[0]
        current = current and file.stat.path.count("/") == record.path.count(
            "/"
        )  # its pictures are found from its folder
        if not current or self._records.profile_changed:
            self._write(record.id, version, file, record)
            return
        record = replace(record, path=file.stat.path, digests=(file.digest,))
        self._records.store(self._add_file_time(record, file.stat))

    def _apply(self, record: Record, file: FileContent) -> None:
        """Apply the user's changes of a file to the library, and write the result."""
        document, item = file.document, self._item(record.id)
        if document is None or item is None:
            return
        record = self._merge(record, item, file, document, file.stat.path)
        if file.stat.path != record.path:
            self._report.renamed.append(file.stat.path)
        self._write(record.id, "", file, record)

    def _merge(self, record: Record, item: Item, file: FileContent, document: Document, path: str) -> Record:
        """Store the user's changes in the library; return the record that has them as the base of the next edit."""
        bases = record.find_bases(changes.file_revision(document))
        edit = changes.make_edit_base(document, bases)
        # After a crash, the next pass knows that the library may have this edit already. From now on the bytes that the
        # mirror wrote are an edit too: the user may undo what the library has.
        record = replace(record, digests=(), version="", size=0, mtime=0)
        pending = (*(base for base in record.pending if base != edit), edit)
        self._records.store(replace(record, pending=pending))
        body = changes.compare_body(item, document, bases)
        if body == "conflict":
            self._keep_aside(file, path)
        changes.apply_edits(self._store, item.id, document, bases, self._profile, body=body == "edit")
        self._report.taken.append(path)
        record = record.add_base(edit, first=False)
        self._records.store(record)
        return record

    def _scan(self) -> None:
        self._state = scan_folder(self._folder, self._records.by_id, self._now)
        self._report.removed += self._state.removed

    def _item(self, item_id: str) -> Item | None:
        try:
            return self._store.items.get(item_id)
        except NotFound:
            return None

    # Writing files

    def _write(
        self, item_id: str, version: str, file: FileContent | None, record: Record | None, path: str = ""
    ) -> None:
        """Write the item to a file as it was read in this pass, or to a new file at `path`."""
        item = self._item(item_id)
        if item is None or (file is None and not path):
            return
        path = file.stat.path if file else path
        own = self._own_fields(item, file)
        revision = changes.file_revision(file.document) if file and file.document else ""
        annotations = self._store.annotations.of_item(item_id)
        new_revision = self._make_revision(item, annotations)
        # A file that differs in its revision only is not written again.
        for name in dict.fromkeys((revision, new_revision) if file else (new_revision,)):
            extra = ({REVISION_FIELD: name} if name else {}) | own
            text = markdown_files.write(item, annotations, self._profile, extra).encode("utf-8", "replace").decode()
            data = pictures.show_copies(self._store, self._folder, item_id, path, text).encode()
            if file and files.digest(data) == file.digest:
                break
        base = changes.make_base(markdown_files.read(text), name)
        new = Record(item_id, path, (files.digest(data),), version, record.bases if record else ())
        new = new.add_base(base, first=True)
        if file and file.digest in new.digests:
            self._records.store(self._add_file_time(new, file.stat))
            return
        old_digests = (*(record.digests if record else ()), *((file.digest,) if file else ()))
        self._records.store(replace(new, digests=(*new.digests, *old_digests), path=record.path if record else path))
        done = writing.replace(self._folder, item_id, file, data) if file else writing.create(self._folder, path, data)
        if not done:  # changed since it was read: the next pass handles it
            if record:
                self._records.store(replace(record, version="", size=0, mtime=0))
            else:
                self._records.remove(item_id)
            return
        stat = files.stat_file(self._folder, path)
        lost = record.inode if record and file is None else 0
        self._records.store(replace(new, inode=stat.inode if stat else 0, lost_inode=lost))
        self._state.names.add(path.casefold())
        self._report.written.append(path)

    def _make_revision(self, item: Item, annotations: Sequence[Annotation]) -> str:
        """Return a name for the item as it is now; another one whenever its file would be different."""
        values = (self._profile, replace(item, updated_at="", last_opened_at=None), annotations)
        body = markdown_files.split_content(item)[1]
        return changes.make_revision(files.digest(repr(values).encode("utf-8", "replace")), files.digest_body(body))

    def _own_fields(self, item: Item, file: FileContent | None) -> dict[str, object]:
        """Return the user's own frontmatter fields, which stay in the file."""
        fields = file.document.fields if file and file.document else {}
        if not fields:
            return {}
        stored, _ = markdown_files.split_content(item)
        known = KNOWN_FIELDS | stored.keys() | {REVISION_FIELD}
        return {name: value for name, value in fields.items() if name not in known}

    def _free_name(self, item: Item) -> str:
        for name in (file_name(item.title, item.id), file_name(f"{item.title[:60]} {item.id}", item.id)):
            if name.casefold() not in self._state.names and files.stat_file(self._folder, name) is None:
                return name
        return f"{item.id}.md"

    def _keep_aside(self, file: FileContent, path: str) -> None:
        """Copy a file whose changes conflict with the library's; the copy has no id and is never touched again."""
        data = file.data
        with suppress(UnicodeDecodeError):  # other bytes stay as they are
            text = data.decode("utf-8")
            head, line, rest = text.partition("\n---\n")
            if line and text.startswith("---\n"):
                data = (_FILE_FIELDS.sub("", f"{head}\n") + f"---\n{rest}").encode()
        path = f"{path.removesuffix('.md')} (conflict {file.digest[:8]}).md"
        if writing.create(self._folder, path, data):
            self._report.kept_aside.append(path)

    def _add_file_time(self, record: Record, stat: FileStat) -> Record:
        """Return the record with the file's inode and size, and its time unless the file is too new."""
        mtime = 0 if files.is_young(stat, self._now()) else stat.mtime
        return replace(record, size=stat.size, mtime=mtime, inode=stat.inode)


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
        show(run_pass(store, folder, profile))
        if wait(max(seconds, _PAUSE_FACTOR * (time.monotonic() - started))):
            return
