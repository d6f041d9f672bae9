"""What a reader does to items in a list: one action for any number of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from pagekeep import clock
from pagekeep.errors import NotFound
from pagekeep.model import Item, MetadataChanges
from pagekeep.store import Store

Action = Literal["pin", "unpin", "archive", "unarchive", "delete", "restore", "opened"]

_SETS: Final[dict[Action, MetadataChanges]] = {
    "pin": {"pinned": True},
    "unpin": {"pinned": False},
    "archive": {"archived": True},
    "unarchive": {"archived": False},
}
UNDOING: Final[dict[Action, Action]] = {
    "pin": "unpin",
    "unpin": "pin",
    "archive": "unarchive",
    "unarchive": "archive",
    "delete": "restore",
    "restore": "delete",
}
"""The action that takes a action back."""


def do(store: Store, action: Action, ids: Iterable[str]) -> tuple[Item, ...]:
    """Each item as it is now; those that are not there (any more) are passed over, `NotFound` when none is."""
    done = tuple(item for item in (_do_one(store, action, key) for key in dict.fromkeys(ids)) if item)
    if not done:
        raise NotFound("There is no such item in the library.")
    return done


def _do_one(store: Store, action: Action, key: str) -> Item | None:
    now = clock.now()
    try:
        item = store.get(key)
        if action == "delete":
            return store.delete(item.id, now)
        if action == "restore":
            return store.restore(item.id, now)
        if action == "opened":
            return store.mark_opened(item.id, now)
        return store.set_metadata(item.id, now, **_SETS[action])
    except NotFound:
        return None
