"""Changing items: pin, archive, tag, delete, restore, purge, mark as opened; one item or many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, Unpack

from pagekeep import clock
from pagekeep.errors import NotFound
from pagekeep.library.items import get_item, same_tag
from pagekeep.library.storage import remove_unused
from pagekeep.model import Item, ItemQuery, MetadataChanges, item_filters
from pagekeep.store import Store
from pagekeep.text import one_line

Action = Literal["pin", "unpin", "archive", "unarchive", "delete", "restore", "opened"]

UNDO: Final[dict[Action, Action]] = {
    "pin": "unpin",
    "unpin": "pin",
    "archive": "unarchive",
    "unarchive": "archive",
    "delete": "restore",
    "restore": "delete",
}
"""The action that undoes an action."""
_SETS: Final[dict[Action, MetadataChanges]] = {
    "pin": {"pinned": True},
    "unpin": {"pinned": False},
    "archive": {"archived": True},
    "unarchive": {"archived": False},
}


def set_fields(
    store: Store, item_id: str, *, unchanged_since: str | None = None, **changes: Unpack[MetadataChanges]
) -> Item:
    """Set fields of the item's metadata; `Outdated` when its `updated_at` is not `unchanged_since`."""
    return store.set_metadata(item_id, clock.now(), unchanged_since=unchanged_since, **changes)


def change_item(
    store: Store,
    item: Item,
    *,
    pinned: bool | None = None,
    archived: bool | None = None,
    tags: Iterable[str] | None = None,
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
    opened: bool = False,
    unchanged_since: str | None = None,
) -> Item:
    """Change what the user may set, all in one step; `None` leaves a value as it is."""
    changes: MetadataChanges = {}
    if pinned is not None:
        changes["pinned"] = pinned
    if archived is not None:
        changes["archived"] = archived
    new_tags = _change_tags(item.metadata.tags if tags is None else tags, add, remove)
    if tags is not None or new_tags != item.metadata.tags:
        changes["tags"] = new_tags
    if changes or unchanged_since is not None:
        item = set_fields(store, item.id, unchanged_since=unchanged_since, **changes)
    return store.mark_opened(item.id, clock.now()) if opened else item


def _change_tags(tags: Iterable[str], add: Iterable[str], remove: Iterable[str]) -> tuple[str, ...]:
    removed = {clean_tag(tag).casefold() for tag in remove}
    cleaned = dict.fromkeys(map(clean_tag, (*tags, *add)))
    return tuple(tag for tag in cleaned if tag and tag.casefold() not in removed)


def clean_tag(tag: str) -> str:
    """Return a tag as it is stored: in one line, without a leading #."""
    return one_line(tag).removeprefix("#")


def tag_item(store: Store, key: str, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Item:
    """Add and remove tags; the others keep their order."""
    return change_item(store, get_item(store, key), add=add, remove=remove)


def remove_tag(store: Store, tag: str) -> int:
    """Remove a tag, in every spelling of it, from all items; return from how many."""
    count = 0
    for deleted in (False, True):
        query = ItemQuery(filters=item_filters(tags=(tag,), deleted=deleted), limit=200)
        while items := store.find(query).items:
            for item in items:
                kept = tuple(own for own in item.metadata.tags if not same_tag(own, tag))
                set_fields(store, item.id, tags=kept)
            count += 0 if deleted else len(items)
    return count


def apply_action(store: Store, action: Action, key: str) -> Item:
    """Do the action to one item; `NotFound` when there is none with this key."""
    item = get_item(store, key)
    item_id, now = item.id, clock.now()
    if action == "delete":
        return store.delete(item_id, now)
    if action == "restore":
        return store.restore(item_id, now)
    if action == "opened":
        return store.mark_opened(item_id, now) if store.writable else item
    return set_fields(store, item_id, **_SETS[action])


def apply_to_many(store: Store, action: Action, keys: Iterable[str]) -> tuple[Item, ...]:
    """Do the action to each item and return them; items that do not exist are skipped, `NotFound` when none does."""
    changed = []
    for key in dict.fromkeys(keys):
        try:
            changed.append(apply_action(store, action, key))
        except NotFound:
            continue
    if not changed:
        raise NotFound("None of these items is in the library.")
    return tuple(changed)


def purge_items(store: Store, item_ids: Sequence[str] | None = None, *, deleted_before: str | None = None) -> int:
    """Remove deleted items permanently, all or those with these ids; return how many.

    Their pictures follow a week after, unless other items use them.
    """
    count = store.purge(item_ids, deleted_before=deleted_before)
    remove_unused(store, sweep=False)
    return count
