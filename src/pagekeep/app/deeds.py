"""What a reader does to items in a list: one deed for any number of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from pagekeep.app import moments
from pagekeep.errors import NotFound
from pagekeep.model import Item
from pagekeep.store import Store

Deed = Literal["pin", "unpin", "archive", "unarchive", "delete", "restore", "opened"]

_SETS: Final[dict[Deed, dict[str, bool]]] = {
    "pin": {"pinned": True},
    "unpin": {"pinned": False},
    "archive": {"archived": True},
    "unarchive": {"archived": False},
}
UNDOING: Final[dict[Deed, Deed]] = {
    "pin": "unpin",
    "unpin": "pin",
    "archive": "unarchive",
    "unarchive": "archive",
    "delete": "restore",
    "restore": "delete",
}
"""The deed that takes a deed back."""


def do(store: Store, deed: Deed, ids: Iterable[str]) -> tuple[Item, ...]:
    """Each item as it is now; those that are not there (any more) are passed over, `NotFound` when none is."""
    done = tuple(item for item in (_do_one(store, deed, key) for key in dict.fromkeys(ids)) if item)
    if not done:
        raise NotFound("There is no such item in the library.")
    return done


def _do_one(store: Store, deed: Deed, key: str) -> Item | None:
    now = moments.now()
    try:
        item = store.get(key)
        if deed == "delete":
            return store.delete(item.id, now)
        if deed == "restore":
            return store.restore(item.id, now)
        if deed == "opened":
            return store.mark_opened(item.id, now)
        return store.set_metadata(item.id, _SETS[deed], now)
    except NotFound:
        return None
