"""A page that comes by import and is in the library already: nothing of either is lost."""

from __future__ import annotations

from dataclasses import replace

from pagekeep.model import Item


def has_content(item: Item) -> bool:
    """Whether there is more of the page than a bookmark."""
    return item.metadata.quality in ("article", "simplified") or item.metadata.edited


def was_fetched(item: Item) -> bool:
    """Whether the live page was ever had, if only to find it worse than what was imported."""
    failure = item.metadata.last_error
    found_worse = failure is not None and failure.get("type") == "Worse"
    return found_worse or not item.source.startswith("import:")


def merged(old: Item, new: Item) -> Item:
    """Tags of both, the earliest moment of saving, archived and pinned if it is either; the content there is, unless there
    is none and the import carries some. A deleted page comes back. The old item itself when nothing is new."""
    base = _better(old, new)
    metadata = replace(
        base.metadata,
        tags=_tags(old, new),
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


def _better(old: Item, new: Item) -> Item:
    """Whose reading is kept."""
    if has_content(old) or (was_fetched(old) and not has_content(new)):
        return old
    if has_content(new):
        return _with_notes(new, old)
    says_more = old.title == old.url != new.title
    return _with_notes(new, old) if says_more else old


def _with_notes(new: Item, old: Item) -> Item:
    notes = old.metadata.notes if new.metadata.notes is None else new.metadata.notes
    return replace(new, metadata=replace(new.metadata, notes=notes))


def _tags(old: Item, new: Item) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for tag in (*old.metadata.tags, *new.metadata.tags):
        found.setdefault(tag.casefold(), tag)
    return tuple(found.values())
