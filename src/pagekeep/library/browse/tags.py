"""Rename, merge and delete a tag on all items that have it, in bounded batches, so that it can be undone."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pagekeep import clock
from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library.actions import undo_whole
from pagekeep.model import ItemQuery, item_filters
from pagekeep.model.lists.values import Action, ItemChange
from pagekeep.model.tags import MAX_TAG_CHARS, clean_tag
from pagekeep.store import Store

_BATCH: Final = 100
"""Items changed in one transaction: others who write wait for it."""
_PAGE: Final = 1_000
"""Items found at a time."""


def rename_tag(store: Store, tag: str, new: str) -> Action:
    """Give another name to a tag on all items; if another tag has that name, both become one."""
    name = clean_tag(new)
    if not name or len(name) > MAX_TAG_CHARS or "," in name:
        raise InvalidQuery(
            "This cannot be the name of a tag.",
            suggestions=(f"Use one line without commas, of at most {MAX_TAG_CHARS} characters.",),
        )
    change = ItemChange(add_tags=(name,), remove_tags=(tag,))
    return _change(store, tag, change, f"Renamed the tag {clean_tag(tag)} to {name}")


def delete_tag(store: Store, tag: str) -> Action:
    """Remove a tag from all items."""
    return _change(store, tag, ItemChange(remove_tags=(tag,)), f"Removed the tag {clean_tag(tag)}")


def undo_tags(store: Store, action_id: str) -> int:
    """Undo a change of a tag; return how many items are as before. Items that were changed again since stay as they are."""
    return undo_whole(store, action_id).undone


def get_change(store: Store, action_id: str) -> Action | None:
    """Return a change of a tag; `None` when it was undone or is forgotten."""
    try:
        action = store.action(action_id)
    except NotFound:
        return None
    return action if action.undone_at is None else None


def _change(store: Store, tag: str, change: ItemChange, label: str) -> Action:
    ids = list(_find(store, tag))
    if not ids:
        raise NotFound(f"No page has the tag {tag:.80}.", suggestions=("See the list of tags.",))
    action_id = str(uuid.uuid4())
    store.add_action(action_id, label, clock.now())
    for begin in range(0, len(ids), _BATCH):
        store.change_items(action_id, ids[begin : begin + _BATCH], change, clock.now())
    return store.action(action_id)


def _find(store: Store, tag: str) -> Iterator[str]:
    """Yield the ids of the items with a tag, in every spelling of it, those in the trash too."""
    for deleted in (False, True):
        query = ItemQuery(filters=item_filters(tags=(clean_tag(tag),), deleted=deleted), limit=_PAGE)
        while True:
            page = store.find(query)
            yield from (item.id for item in page.items)
            if page.next is None:
                break
            query = replace(query, after=page.next)
