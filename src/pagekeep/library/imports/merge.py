"""A page that comes by import and is in the library already: nothing of either is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pagekeep.model import Item


def has_content(item: Item) -> bool:
    """Whether there is more of the page than a bookmark."""
    return item.metadata.get("quality") in ("article", "simplified") or bool(item.metadata.get("edited"))


def was_fetched(item: Item) -> bool:
    """Whether the live page was ever had, if only to find it worse than what was imported."""
    failure = item.metadata.get("last_error")
    found_worse = isinstance(failure, dict) and failure.get("type") == "Worse"
    return found_worse or not item.source.startswith("import:")


def merged(old: Item, new: Item) -> Item:
    """Tags of both, the earliest moment of saving, archived and pinned if it is either; the content there is, unless there
    is none and the import carries some. A deleted page comes back. The old item itself when nothing is new."""
    base = _better(old, new)
    metadata: dict[str, Any] = {**base.metadata, "tags": _tags(old, new)}
    for name in ("archived", "pinned"):
        if old.metadata.get(name) or new.metadata.get(name):
            metadata[name] = True
    if not metadata["tags"] and "tags" not in old.metadata:
        del metadata["tags"]
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
        return replace(new, metadata={**_users(old), **new.metadata})
    says_more = old.title == old.url != new.title
    return replace(new, metadata={**_users(old), **new.metadata}) if says_more else old


def _users(item: Item) -> dict[str, Any]:
    return {name: item.metadata[name] for name in ("notes",) if name in item.metadata}


def _tags(old: Item, new: Item) -> list[str]:
    found: dict[str, str] = {}
    for tag in (*old.metadata.get("tags", ()), *new.metadata.get("tags", ())):
        found.setdefault(str(tag).casefold(), tag)
    return list(found.values())
