"""Apply the user's edits of a file to the library.

A change on one side only wins; changes on both sides are merged, and no text is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pagekeep import clock
from pagekeep.errors import Outdated
from pagekeep.library.change import clean_tag
from pagekeep.library.exports.markdown_files import Document, Profile, obsidian_tag, split_content
from pagekeep.library.mirror.folder import digest_body
from pagekeep.library.mirror.records import Record
from pagekeep.markdown.frontmatter import split_block
from pagekeep.model import Item, MetadataChanges
from pagekeep.store import Store
from pagekeep.text import count_words, reading_time

_MAX_ATTEMPTS: Final = 5
"""How often to retry when the item changes at the same time."""


def is_edited_elsewhere(item: Item, record: Record) -> bool:
    """Return whether the user has edited the item in the library since this file was written."""
    return item.metadata.edited and digest_body(split_content(item)[1]) != record.body


def has_changed_body(document: Document, record: Record) -> bool:
    """Return whether the user has changed the Markdown in the file."""
    return digest_body(document.body) != record.body


def apply_edits(
    store: Store, item_id: str, document: Document, record: Record, profile: Profile, *, body: bool
) -> Item:
    """Store what the user changed in a file; the Markdown only with `body`."""
    for attempt in range(_MAX_ATTEMPTS):
        item = store.get(item_id)
        changes = _metadata_changes(item, document, record, profile)
        if not changes:
            break
        try:
            item = store.set_metadata(item_id, clock.now(), unchanged_since=item.updated_at, **changes)
            break
        except Outdated:
            if attempt == _MAX_ATTEMPTS - 1:
                raise
    _apply_notes(store, item, document)
    return _apply_body(store, item, document) if body else item


def _metadata_changes(item: Item, document: Document, record: Record, profile: Profile) -> MetadataChanges:
    if not document.fields:  # the user has removed the frontmatter, which does not mean "remove all tags"
        return {}
    known = item.metadata
    changes: MetadataChanges = {}
    if document.flag("pinned") != record.pinned and document.flag("pinned") != bool(known.pinned):
        changes["pinned"] = document.flag("pinned") or None
    if document.flag("archived") != record.archived and document.flag("archived") != bool(known.archived):
        changes["archived"] = document.flag("archived") or None
    tags = merge_tags(known.tags, record.tags, document.tags, profile)
    if tags != known.tags:
        changes["tags"] = tags
    if record.edited and not document.flag("edited") and known.edited:
        # The user gives up the edit: the next reparse may restore the page's own text.
        changes |= {"edited": False, "parser_version": None}
    return changes


def merge_tags(now: Sequence[str], before: Sequence[str], after: Sequence[str], profile: Profile) -> tuple[str, ...]:
    """Return the library's tags without those removed in the file and with those added there."""
    removed = set(before) - set(after)
    file_tags = {tag: obsidian_tag(tag) if profile == "obsidian" else tag for tag in now}
    remaining = [tag for tag in now if file_tags[tag] not in removed]
    known = {tag.casefold() for tag in file_tags.values()}
    added = [clean_tag(tag) for tag in after if tag not in before and tag.casefold() not in known]
    return (*remaining, *dict.fromkeys(tag for tag in added if tag))


def _apply_notes(store: Store, item: Item, document: Document) -> None:
    """Store the notes of annotations that were changed in the file, ignoring changes of white space."""
    notes = {annotation.id: annotation.note for annotation in document.annotations}
    for annotation in store.annotations(item.id):
        note = notes.get(annotation.id)
        if note is not None and note.split() != annotation.note.split():
            store.annotate(replace(annotation, note=note, updated_at=clock.now()))


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
