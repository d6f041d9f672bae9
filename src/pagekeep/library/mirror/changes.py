"""What happened to the files of the folder, and the user's edits of a file, applied to the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from pagekeep import clock
from pagekeep.errors import Outdated
from pagekeep.library.exports.markdown_files import REVISION_FIELD, Document, Profile, obsidian_tag, split_content
from pagekeep.library.items.change import begin_action, change_item
from pagekeep.library.mirror import folder as files
from pagekeep.library.mirror import writing
from pagekeep.library.mirror.folder import FileContent, FileStat, digest, digest_body
from pagekeep.library.mirror.records import Base, Record
from pagekeep.markdown.frontmatter import split_block
from pagekeep.model import Item
from pagekeep.model.lists import ItemChange
from pagekeep.model.tags import clean_tags, unique_tags, without_tags
from pagekeep.store import Store
from pagekeep.text import count_words, reading_time


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


BodyChange = Literal["none", "edit", "conflict"]
_MAX_ATTEMPTS: Final = 5
"""How often to retry when the item changes at the same time."""


def file_revision(document: Document) -> str:
    """Return the revision of the file that an editor opened; empty when the file does not name it."""
    value = document.fields.get(REVISION_FIELD)
    return value if isinstance(value, str) else ""


def make_revision(values: str, body: str) -> str:
    """Return the name of a revision, from the digests of all its values and of its Markdown.

    The name has a part for the Markdown, so that an edit of a revision long forgotten is still known not to be a conflict.
    """
    return f"r{values[:8]}-{body[:8]}"


def make_base(document: Document, revision: str) -> Base:
    """Return the values of a file for later comparisons."""
    return Base(
        revision=revision,
        body=digest_body(document.body),
        tags=document.tags,
        pinned=document.flag("pinned"),
        archived=document.flag("archived"),
        edited=document.flag("edited"),
        notes={annotation.id: _digest_note(annotation.note) for annotation in document.annotations},
    )


def make_edit_base(document: Document, bases: Sequence[Base]) -> Base:
    """Return the values of an edited file, which the next edit of the same revision is compared with."""
    base = make_base(document, bases[0].revision if bases else file_revision(document))
    if document.fields or not bases:
        return base
    old = bases[0]  # the user has removed the frontmatter: its values still count
    return replace(base, tags=old.tags, pinned=old.pinned, archived=old.archived, edited=old.edited)


def compare_body(item: Item, document: Document, bases: Sequence[Base]) -> BodyChange:
    """Return whether the user changed the Markdown of a file, and whether the library has another edit of it."""
    in_file, in_library = digest_body(document.body), digest_body(split_content(item)[1])
    known = {base.body for base in bases}
    if in_file == in_library or known == {in_file}:
        return "none"
    if not bases:
        opened = file_revision(document).partition("-")[2]
        if opened and in_file.startswith(opened):
            return "none"
        return "edit" if opened and in_library.startswith(opened) else "conflict"
    if item.metadata.edited and in_library not in known:
        return "conflict"
    return "edit"


def apply_edits(
    store: Store, item_id: str, document: Document, bases: Sequence[Base], profile: Profile, *, body: bool
) -> Item:
    """Store what the user changed in a file since one of `bases`; the Markdown only with `body`."""
    for attempt in range(_MAX_ATTEMPTS):
        item = store.items.get(item_id)
        change = _find_change(item, document, bases, profile)
        if change == ItemChange():
            break
        try:
            item = change_item(store, item_id, change, unchanged_since=item.updated_at)
            break
        except Outdated:
            if attempt == _MAX_ATTEMPTS - 1:
                raise
    if document.fields and item.metadata.edited and any(base.edited for base in bases) and not document.flag("edited"):
        # The user gives up the edit: the next reparse may restore the page's own text.
        item = store.items.set_metadata(item_id, clock.now(), edited=False, parser_version=None)
    _apply_notes(store, item, document, bases)
    return _apply_body(store, item, document) if body else item


def _find_change(item: Item, document: Document, bases: Sequence[Base], profile: Profile) -> ItemChange:
    """Return what the user changed of what a file says about its item."""
    if not document.fields:  # the user has removed the frontmatter, which does not mean "remove all tags"
        return ItemChange()
    known, change = item.metadata, ItemChange()
    # Without a base, a missing value may be older than the library's: only what the file has is taken.
    pinned, archived = document.flag("pinned"), document.flag("archived")
    if pinned != bool(known.pinned) and (any(pinned != base.pinned for base in bases) if bases else pinned):
        change = replace(change, pinned=pinned)
    if archived != bool(known.archived) and (any(archived != base.archived for base in bases) if bases else archived):
        change = replace(change, archived=archived)
    tags: tuple[str, ...] = known.tags
    for before in [base.tags for base in bases] or [()]:
        tags = merge_tags(tags, before, document.tags, profile)
    return change if tags == known.tags else replace(change, tags=tags)


def merge_tags(now: Sequence[str], before: Sequence[str], after: Sequence[str], profile: Profile) -> tuple[str, ...]:
    """Return the library's tags without those removed in the file and with those added there."""
    removed = without_tags(before, after)
    file_tags = {tag: obsidian_tag(tag) if profile == "obsidian" else tag for tag in now}
    remaining = [tag for tag in now if without_tags([file_tags[tag]], removed)]
    added = without_tags(without_tags(after, before), file_tags.values())
    return unique_tags((*remaining, *clean_tags(added)))


def _apply_notes(store: Store, item: Item, document: Document, bases: Sequence[Base]) -> None:
    """Store the notes that were changed in the file; a note changed on both sides gets both texts."""
    notes = {annotation.id: annotation.note for annotation in document.annotations}
    for annotation in store.annotations.of_item(item.id):
        note = notes.get(annotation.id)
        known = {base.notes[annotation.id] for base in bases if annotation.id in base.notes}
        if note is None or _digest_note(note) == _digest_note(annotation.note) or known == {_digest_note(note)}:
            continue
        if known and _digest_note(annotation.note) not in known and annotation.note.strip() not in note:
            note = f"{annotation.note.rstrip()}\n\n{note}"
        store.annotations.put(replace(annotation, note=note, updated_at=clock.now()))


def _digest_note(note: str) -> str:
    """Return a hash of the note, ignoring changes of white space."""
    return digest(" ".join(note.split()).encode("utf-8", "replace"))[:16]


def _apply_body(store: Store, item: Item, document: Document) -> Item:
    """Store the Markdown of the file as the user's edit."""
    block, _ = split_block(item.content)
    text = document.body.strip("\n") + "\n"
    words = count_words(text)
    edited = store.items.replace_content(
        item.id,
        content=f"---\n{block}---\n\n{text}" if block else text,
        title=item.title,
        author=item.author,
        published_at=item.published_at,
        metadata=replace(item.metadata, edited=True, word_count=words, reading_time=reading_time(words)),
        now=clock.now(),
    )
    store.actions.record_reparse(begin_action(store, f"Edited the text of {item.title}"), item.id, item)
    return edited
