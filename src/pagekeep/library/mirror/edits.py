"""Apply the user's edits of a file to the library.

A change on one side only wins; changes on both sides are merged, and no text is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from pagekeep import clock
from pagekeep.errors import Outdated
from pagekeep.library.exports.markdown_files import REVISION_FIELD, Document, Profile, obsidian_tag, split_content
from pagekeep.library.mirror.folder import digest, digest_body
from pagekeep.library.mirror.records import Base
from pagekeep.markdown.frontmatter import split_block
from pagekeep.model import Item, MetadataChanges
from pagekeep.model.tags import clean_tags, unique_tags, without_tags
from pagekeep.store import Store
from pagekeep.text import count_words, reading_time

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
        item = store.get(item_id)
        changes = _metadata_changes(item, document, bases, profile)
        if not changes:
            break
        try:
            item = store.set_metadata(item_id, clock.now(), unchanged_since=item.updated_at, **changes)
            break
        except Outdated:
            if attempt == _MAX_ATTEMPTS - 1:
                raise
    _apply_notes(store, item, document, bases)
    return _apply_body(store, item, document) if body else item


def _metadata_changes(item: Item, document: Document, bases: Sequence[Base], profile: Profile) -> MetadataChanges:
    if not document.fields:  # the user has removed the frontmatter, which does not mean "remove all tags"
        return {}
    known = item.metadata
    changes: MetadataChanges = {}
    # Without a base, a missing value may be older than the library's: only what the file has is taken.
    pinned, archived = document.flag("pinned"), document.flag("archived")
    if pinned != bool(known.pinned) and (any(pinned != base.pinned for base in bases) if bases else pinned):
        changes["pinned"] = pinned or None
    if archived != bool(known.archived) and (any(archived != base.archived for base in bases) if bases else archived):
        changes["archived"] = archived or None
    tags: tuple[str, ...] = known.tags
    for before in [base.tags for base in bases] or [()]:
        tags = merge_tags(tags, before, document.tags, profile)
    if tags != known.tags:
        changes["tags"] = tags
    if any(base.edited for base in bases) and not document.flag("edited") and known.edited:
        # The user gives up the edit: the next reparse may restore the page's own text.
        changes |= {"edited": False, "parser_version": None}
    return changes


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
    for annotation in store.annotations(item.id):
        note = notes.get(annotation.id)
        known = {base.notes[annotation.id] for base in bases if annotation.id in base.notes}
        if note is None or _digest_note(note) == _digest_note(annotation.note) or known == {_digest_note(note)}:
            continue
        if known and _digest_note(annotation.note) not in known and annotation.note.strip() not in note:
            note = f"{annotation.note.rstrip()}\n\n{note}"
        store.annotate(replace(annotation, note=note, updated_at=clock.now()))


def _digest_note(note: str) -> str:
    """Return a hash of the note, ignoring changes of white space."""
    return digest(" ".join(note.split()).encode("utf-8", "replace"))[:16]


def _apply_body(store: Store, item: Item, document: Document) -> Item:
    """Store the Markdown of the file as the user's edit."""
    block, _ = split_block(item.content)
    text = document.body.strip("\n") + "\n"
    words = count_words(text)
    return store.replace_content(
        item.id,
        content=f"---\n{block}---\n\n{text}" if block else text,
        title=item.title,
        author=item.author,
        published_at=item.published_at,
        metadata=replace(item.metadata, edited=True, word_count=words, reading_time=reading_time(words)),
        now=clock.now(),
    )
