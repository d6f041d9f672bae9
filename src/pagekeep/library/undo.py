"""Undo the last change that the command line made: what it was is kept in a small file beside the library.

Only what the user set is remembered (pinned, archived, tags, deleted), never the content, so that a forgotten file costs
nothing. A change that something else changed again since is not undone: that would throw the newer change away.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pagekeep import clock
from pagekeep.config import Settings
from pagekeep.errors import NotFound, Outdated
from pagekeep.library.change import change_item
from pagekeep.library.lists.actions import undo_whole
from pagekeep.library.open import data_folder
from pagekeep.model import Item
from pagekeep.store import Store

_FILE: Final = "undo.json"
_MAX_LIBRARIES: Final = 20
"""Libraries and users whose last change is remembered in one folder."""


@dataclass(frozen=True, slots=True)
class Undone:
    """A change that was undone."""

    action: str
    """The name of the command that made it, such as `delete`."""
    items: tuple[Item, ...]
    count: int | None = None
    """Of an action of many items, how many were undone; these are not listed."""
    kept: int = 0
    """Items that were changed again since, and stay as they are."""


def remember_change(settings: Settings, action: str, before: Sequence[Item], after: Sequence[Item]) -> None:
    """Remember the last change, in place of the one before; a folder that cannot be written remembers nothing."""
    entry = {
        "action": action,
        "items": [
            {"id": old.id, **_state(old), "since": new.updated_at} for old, new in zip(before, after, strict=True)
        ],
    }
    entries = _read(settings)
    entries.pop(_key(settings), None)
    kept = dict(list(entries.items())[-_MAX_LIBRARIES + 1 :])
    _write(settings, {**kept, _key(settings): entry})


def remember_action(settings: Settings, action: str, action_id: str) -> None:
    """Remember that the last change is an action of the library, which knows itself how to undo it."""
    entries = _read(settings)
    entries.pop(_key(settings), None)
    kept = dict(list(entries.items())[-_MAX_LIBRARIES + 1 :])
    _write(settings, {**kept, _key(settings): {"action": action, "id": action_id}})


def forget_change(settings: Settings, why: str) -> None:
    """Remember that the last change cannot be undone, and why."""
    _write(settings, {**_read(settings), _key(settings): {"final": why}})


def undo_last(store: Store, settings: Settings) -> Undone:
    """Undo the last change; raise `NotFound` when there is none, `Outdated` when an item was changed again since."""
    entries = _read(settings)
    entry = entries.get(_key(settings))
    if entry is None:
        raise NotFound(
            "There is nothing to undo.",
            suggestions=("Undone are pin, archive, tag, delete and their opposites, if this command line made them.",),
        )
    if "final" in entry:
        raise NotFound(entry["final"], suggestions=("Restore a backup if you have one.",))
    if "id" in entry:
        result = undo_whole(store, entry["id"])
        entries.pop(_key(settings))
        _write(settings, entries)
        return Undone(entry["action"], (), result.undone, result.kept)
    items = [(store.get(old["id"]), old) for old in entry["items"]]
    for item, old in items:
        if item.updated_at != old["since"]:
            raise Outdated(
                f"The page {item.id[:8]} was changed again since, so nothing was undone.",
                suggestions=("Change it by hand: pin, archive, tag, delete, restore.",),
            )
    undone = tuple(_restore(store, item, old) for item, old in items)
    entries.pop(_key(settings))
    _write(settings, entries)
    return Undone(entry["action"], undone)


def _state(item: Item) -> dict[str, Any]:
    about = item.metadata
    return {
        "pinned": bool(about.pinned),
        "archived": bool(about.archived),
        "tags": list(about.tags),
        "deleted": item.deleted_at is not None,
    }


def _restore(store: Store, item: Item, old: dict[str, Any]) -> Item:
    if old["deleted"] != (item.deleted_at is not None):
        item = (store.delete if old["deleted"] else store.restore)(item.id, clock.now())
    since = item.updated_at
    return change_item(
        store, item, pinned=old["pinned"], archived=old["archived"], tags=old["tags"], unchanged_since=since
    )


def _key(settings: Settings) -> str:
    where = settings.library or "default"
    return f"{settings.user} {where.rpartition('@')[2]}"  # without the password of a server


def _path(settings: Settings) -> Path:
    return data_folder(settings) / _FILE


def _read(settings: Settings) -> dict[str, Any]:
    try:
        entries = json.loads(_path(settings).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _write(settings: Settings, entries: dict[str, Any]) -> None:
    with suppress(OSError):
        _path(settings).write_text(json.dumps(entries, ensure_ascii=False, indent=1), "utf-8")
