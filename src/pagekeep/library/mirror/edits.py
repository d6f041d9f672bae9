"""What someone changed in a file, taken into the library: what changed on one side alone is that side's, what changed on both
is put together, and no text is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pagekeep import clock
from pagekeep.errors import Outdated
from pagekeep.library.exports.markdown_files import Document, Profile, content_of, obsidian_tag
from pagekeep.library.items import clean_tag
from pagekeep.library.mirror.folder import mark_of_body
from pagekeep.library.mirror.records import Record
from pagekeep.markdown.frontmatter import split_block
from pagekeep.model import Item, MetadataChanges
from pagekeep.store import Store
from pagekeep.text import count_words, reading_time

_TRIES = 5


def tags_in_file(item: Item, profile: Profile) -> tuple[str, ...]:
    """An item's tags as its file has them."""
    return tuple(dict.fromkeys(obsidian_tag(tag) if profile == "obsidian" else tag for tag in item.metadata.tags))


def is_anothers_edit(item: Item, record: Record) -> bool:
    """Whether the library has a version of the user's own that this file never had."""
    return item.metadata.edited and mark_of_body(content_of(item)[1]) != record.body


def changed_body(document: Document, record: Record) -> bool:
    """Whether the text was changed in the file."""
    return mark_of_body(document.body) != record.body


def take(store: Store, item_id: str, document: Document, record: Record, profile: Profile, *, body: bool) -> Item:
    """Put what was changed in a file into the library; the text only with `body`."""
    for attempt in range(_TRIES):
        item = store.get(item_id)
        changes = _changes(item, document, record, profile)
        if not changes:
            break
        try:
            item = store.set_metadata(item_id, clock.now(), unchanged_since=item.updated_at, **changes)
            break
        except Outdated:
            if attempt == _TRIES - 1:
                raise
    _take_notes(store, item, document)
    return _take_body(store, item, document) if body else item


def _changes(item: Item, document: Document, record: Record, profile: Profile) -> MetadataChanges:
    if not document.fields:  # without its frontmatter a file says nothing about these
        return {}
    known = item.metadata
    changes: MetadataChanges = {}
    if document.flag("pinned") != record.pinned and document.flag("pinned") != bool(known.pinned):
        changes["pinned"] = document.flag("pinned") or None
    if document.flag("archived") != record.archived and document.flag("archived") != bool(known.archived):
        changes["archived"] = document.flag("archived") or None
    tags = merged_tags(known.tags, record.tags, document.tags, profile)
    if tags != known.tags:
        changes["tags"] = tags
    if record.edited and not document.flag("edited") and known.edited:
        # The next reparse may put the page's own text back.
        changes |= {"edited": False, "parser_version": None}
    return changes


def merged_tags(now: Sequence[str], before: Sequence[str], after: Sequence[str], profile: Profile) -> tuple[str, ...]:
    """The library's tags, without those taken off in the file and with those put on there."""
    gone = set(before) - set(after)
    forms = {tag: obsidian_tag(tag) if profile == "obsidian" else tag for tag in now}
    kept = [tag for tag in now if forms[tag] not in gone]
    there = {form.casefold() for form in forms.values()}
    new = [clean_tag(tag) for tag in after if tag not in before and tag.casefold() not in there]
    return (*kept, *dict.fromkeys(tag for tag in new if tag))


def _take_notes(store: Store, item: Item, document: Document) -> None:
    """Notes to marked passages that were changed in the file."""
    said = {one.id: one.note for one in document.marked}
    for annotation in store.annotations(item.id):
        note = said.get(annotation.id)
        if note is not None and _plain(note) != _plain(annotation.note):
            store.annotate(replace(annotation, note=note, updated_at=clock.now()))


def _plain(note: str) -> list[str]:
    return note.split()


def _take_body(store: Store, item: Item, document: Document) -> Item:
    """The text as the user's own version."""
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
