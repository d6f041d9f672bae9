"""Merge an imported page with the item that the library already has, so that nothing of either is lost."""

from __future__ import annotations

from dataclasses import replace

from pagekeep.library import build_item
from pagekeep.model import Item
from pagekeep.model.lists.edits import carry_edits


def has_content(item: Item) -> bool:
    """Return whether the item is more than a bookmark."""
    return item.metadata.quality in ("article", "simplified") or item.metadata.edited


def was_fetched(item: Item) -> bool:
    """Return whether the live page was ever fetched, even if it was worse than the imported one."""
    failure = item.metadata.last_error
    was_worse = failure is not None and failure.get("type") == "Worse"
    return was_worse or not (item.source.startswith("import:") or item.metadata.fetch_again is not None)


def merge_items(old: Item, new: Item) -> Item:
    """Return both items as one: tags of both, the earlier save time, archived and pinned if either is.

    The old content stays unless only the import has content. A deleted item is restored. Returns `old` itself when
    nothing changes.
    """
    base = _choose_content(old, new)
    metadata = replace(
        base.metadata,
        tags=build_item.merge_tags(old, new),
        archived=True if old.metadata.archived or new.metadata.archived else base.metadata.archived,
        pinned=True if old.metadata.pinned or new.metadata.pinned else base.metadata.pinned,
    )
    result = replace(
        base,
        id=old.id,
        created_at=old.created_at,
        updated_at=old.updated_at,
        saved_at=min(old.saved_at, new.saved_at),
        last_opened_at=max(filter(None, (old.last_opened_at, new.last_opened_at)), default=None),
        deleted_at=None,
        metadata=metadata,
    )
    return old if result == old else replace(result, updated_at=new.updated_at)


def _choose_content(old: Item, new: Item) -> Item:
    """Return the item whose title, content and derived metadata are kept."""
    if has_content(old) or (was_fetched(old) and not has_content(new)):
        return old
    if has_content(new):
        return _with_notes(new, old)
    only_new_has_title = old.title == old.url != new.title
    return _with_notes(new, old) if only_new_has_title else old


def _with_notes(new: Item, old: Item) -> Item:
    notes = old.metadata.notes if new.metadata.notes is None else new.metadata.notes
    refused = old.metadata.refused_tags or new.metadata.refused_tags
    merged = replace(new, metadata=replace(new.metadata, notes=notes, refused_tags=refused))
    return carry_edits(old, merged) if old.metadata.edits else merged
