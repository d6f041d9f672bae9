"""One pass of the mirror: what changed in the folder goes into the library, what changed in the library into the folder."""

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
from pagekeep.library.exports.markdown_files import KNOWN, Document, Profile
from pagekeep.library.exports.run import put
from pagekeep.library.mirror import edits
from pagekeep.library.mirror import folder as files
from pagekeep.library.mirror.folder import File, Seen
from pagekeep.library.mirror.records import Record, Records, locked
from pagekeep.model import Item
from pagekeep.store import Store

_YOUNG: Final = 2_000_000_000
"""Nanoseconds within which a second change may leave no trace in a file's time."""
_ID: Final = re.compile(r"\A(---\n(?:.*\n)*?)id: .*\n")


@dataclass(slots=True)
class Pass:
    """What a pass did, by the names of the files."""

    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    """Files whose changes went into the library."""
    renamed: list[str] = field(default_factory=list)
    kept_aside: list[str] = field(default_factory=list)
    """Copies of what could not be put together."""
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Files that cannot be read, and why. They are left alone."""

    @property
    def changed(self) -> bool:
        """Whether anything was done."""
        return bool(self.written or self.removed or self.taken or self.renamed or self.kept_aside)


def mirror(store: Store, folder: Path, profile: Profile = "pagekeep") -> Pass:
    """Bring folder and library together. What was killed on the way is simply done again."""
    with _disk():
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder):
            return _Mirror(store, folder, profile).run()


@dataclass(slots=True)
class _Found:
    """The files of the folder, by what they are."""

    there: dict[str, Seen] = field(default_factory=dict)
    """By id: files that nobody touched."""
    read: dict[str, File] = field(default_factory=dict)
    """By id: files of ours that may have changed, or moved."""
    strangers: dict[str, File] = field(default_factory=dict)
    """By id: files that name an item and that we know nothing of."""
    emptied: dict[str, Seen] = field(default_factory=dict)
    """By id: files of ours that hold nothing, as a crash of whoever wrote them leaves them."""
    broken: set[str] = field(default_factory=set)
    """Ids of files of ours that cannot be understood."""


class _Mirror:
    def __init__(self, store: Store, folder: Path, profile: Profile) -> None:
        self._store, self._folder, self._profile = store, folder, profile
        self._records = Records(folder, store.user_id, profile)
        self._done = Pass()
        self._found = _Found()
        self._taken_names: set[str] = set()

    def run(self) -> Pass:
        self._look()
        versions = dict(self._store.versions())
        for item_id in [item_id for item_id in self._records.by_id if item_id not in versions]:
            self._gone(item_id)
        for item_id, version in versions.items():
            if item_id not in self._found.broken:
                self._bring_together(item_id, version)
        self._records.tidy()
        return self._done

    # What is in the folder

    def _look(self) -> None:
        by_path = {record.path: record for record in self._records.by_id.values()}
        unknown: list[File] = []
        for seen in files.look(self._folder):
            self._taken_names.add(seen.path.casefold())
            record = by_path.get(seen.path)
            if record and (record.size, record.mtime) == (seen.size, seen.mtime):
                self._found.there[record.id] = seen
                continue
            file = files.read(self._folder, seen)
            if file is None:
                continue
            if record is None or (file.document and file.document.id not in (None, record.id)):
                unknown.append(file)
            else:
                self._sort_known(record, file)
        for file in unknown:
            self._sort_unknown(file)

    def _sort_known(self, record: Record, file: File) -> None:
        if file.document is None:
            self._found.broken.add(record.id)
            self._done.problems.append((file.seen.path, file.fault))
        elif file.document.id is None and not file.document.body.strip():
            self._found.emptied[record.id] = file.seen
        else:
            self._found.read[record.id] = file

    def _sort_unknown(self, file: File) -> None:
        """A file that was moved, or one that names an item; a copy of a file that is still there is the user's own."""
        found, item_id = self._found, file.document.id if file.document else None
        if item_id is None or item_id in found.there or item_id in found.read or item_id in found.broken:
            return
        if item_id in self._records.by_id:
            found.read[item_id] = file
        else:
            found.strangers.setdefault(item_id, file)

    # One item after the other

    def _gone(self, item_id: str) -> None:
        """The item left the library: so does its file, unless it holds what the library never had."""
        record, file, seen = self._records.by_id[item_id], self._found.read.get(item_id), self._found.there.get(item_id)
        ours = seen or (file.seen if file and file.mark in record.marks else None)
        if ours is not None and files.stat(self._folder, ours.path) == ours:
            (self._folder / ours.path).unlink(missing_ok=True)
            self._done.removed.append(ours.path)
        if item_id not in self._found.broken:
            self._records.forget(item_id)

    def _bring_together(self, item_id: str, version: str) -> None:
        record, file = self._records.by_id.get(item_id), self._found.read.get(item_id)
        if record is None:
            self._begin(item_id, version)
        elif file is None:
            seen = self._found.there.get(item_id) or self._found.emptied.get(item_id)
            stale = version != record.version or self._records.profile_changed
            if seen is None:
                self._restore(record, version)
            elif stale or item_id in self._found.emptied:
                self._write(item_id, version, record.path, seen, record)
        elif file.mark in record.marks:
            self._settle(record, file, version)
        else:
            self._take(record, file, version)

    def _restore(self, record: Record, version: str) -> None:
        """The file is gone, and the item is not."""
        item = self._item(record.id)
        if item is not None:
            path = record.path if files.stat(self._folder, record.path) is None else self._free_name(item)
            self._write(record.id, version, path, None, record)

    def _begin(self, item_id: str, version: str) -> None:
        """An item without a record: new, or its file is there from a list that was lost."""
        file = self._found.strangers.get(item_id)
        item = self._item(item_id)
        if item is None:
            return
        if file is None:
            self._write(item_id, version, self._free_name(item), None, None)
            return
        if file.document and files.mark_of_body(file.document.body) != files.mark_of_body(
            markdown_files.content_of(item)[1]
        ):
            self._keep_aside(file)
        self._write(item_id, version, file.seen.path, file.seen, None)

    def _settle(self, record: Record, file: File, version: str) -> None:
        """Our own bytes, though not at the place or time we knew."""
        if file.seen.path != record.path:
            self._done.renamed.append(file.seen.path)
        current = version == record.version and file.mark == record.marks[0]
        if not current or self._records.profile_changed:
            self._write(record.id, version, file.seen.path, file.seen, record)
            return
        self._records.note(_stamped(replace(record, path=file.seen.path, marks=(file.mark,)), file.seen))

    def _take(self, record: Record, file: File, version: str) -> None:
        """Someone changed the file."""
        document, item = file.document, self._item(record.id)
        if document is None or item is None:
            return
        body = edits.changed_body(document, record)
        if body and edits.is_anothers_edit(item, record):
            self._keep_aside(file)
            body = False
        edits.take(self._store, record.id, document, record, self._profile, body=body)
        self._done.taken.append(file.seen.path)
        if file.seen.path != record.path:
            self._done.renamed.append(file.seen.path)
        # Looked at again at the next pass, since the library has a new version by now.
        self._write(record.id, "", file.seen.path, file.seen, record)

    def _item(self, item_id: str) -> Item | None:
        try:
            return self._store.get(item_id)
        except NotFound:
            return None

    # Into the folder

    def _write(self, item_id: str, version: str, path: str, seen: Seen | None, record: Record | None) -> None:
        item = self._item(item_id)
        if item is None:
            return
        there = files.read(self._folder, seen) if seen else None
        data = self._text(item, there.document if there else None).encode("utf-8", "replace")
        document = markdown_files.read(data.decode())
        new = files.mark(data)
        made = Record(
            id=item_id,
            path=path,
            marks=(new,),
            version=version,
            body=files.mark_of_body(document.body),
            tags=document.tags,
            pinned=document.flag("pinned"),
            archived=document.flag("archived"),
            edited=document.flag("edited"),
        )
        if there is not None and there.mark == new:
            self._records.note(_stamped(made, there.seen))
            return
        if files.stat(self._folder, path) != seen:
            return  # changed while we were at it: the next pass sees to it
        before = [*(record.marks if record else ()), *((there.mark,) if there else ())]
        self._records.note(replace(made, marks=(new, *before)))
        (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
        put(self._folder / path, data)
        self._records.note(made)
        self._taken_names.add(path.casefold())
        self._done.written.append(path)

    def _text(self, item: Item, there: Document | None) -> str:
        """The file as it is to be; fields of the user's own stay in it."""
        stored, _ = markdown_files.content_of(item)
        own = (
            {name: value for name, value in there.fields.items() if name not in KNOWN | stored.keys()} if there else {}
        )
        return markdown_files.write(item, self._store.annotations(item.id), self._profile, own)

    def _free_name(self, item: Item) -> str:
        for name in (file_name(item.title, item.id), file_name(f"{item.title[:60]} {item.id}", item.id)):
            if name.casefold() not in self._taken_names and files.stat(self._folder, name) is None:
                return name
        return f"{item.id}.md"

    def _keep_aside(self, file: File) -> None:
        """A copy of the file that is the user's alone."""
        text = (self._folder / file.seen.path).read_text("utf-8", "replace")
        path = f"{file.seen.path[:-3]} (conflict {file.mark[:8]}).md"
        put(self._folder / path, _ID.sub(r"\1", text, count=1).encode("utf-8", "replace"))
        self._done.kept_aside.append(path)


def _stamped(record: Record, seen: Seen) -> Record:
    """With the file's time, if that is old enough to tell a later change by it."""
    young = time.time_ns() - seen.mtime < _YOUNG
    return replace(record, size=seen.size, mtime=0 if young else seen.mtime)


@contextmanager
def _disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"The folder cannot be used: {error.strerror or 'the disk failed'}.") from None


def watch(
    store: Store,
    folder: Path,
    profile: Profile,
    told: Callable[[Pass], None],
    *,
    seconds: float = 2.0,
    wait: Callable[[float], bool],
) -> None:
    """Pass after pass, at least so many seconds apart, until `wait` says that it is over; `told` hears of every pass.

    A large library is looked at less often, so that looking takes no more than a tenth of the time.
    """
    while True:
        began = time.monotonic()
        told(mirror(store, folder, profile))
        if wait(max(seconds, 9 * (time.monotonic() - began))):
            return
