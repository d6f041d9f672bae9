"""Undo the last change that the command line made: which action it was is kept in a small file beside the library."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pagekeep.config import Settings
from pagekeep.errors import NotFound
from pagekeep.library.actions import undo_whole
from pagekeep.library.items import existing_items
from pagekeep.library.open import data_folder
from pagekeep.model import Item
from pagekeep.private_files import private
from pagekeep.store import Store

_FILE: Final = "undo.json"
_MAX_LIBRARIES: Final = 20
"""Libraries and users whose last change is remembered in one folder."""
MAX_SHOWN: Final = 20
"""Items of an undone action that are shown one by one."""


@dataclass(frozen=True, slots=True)
class Undone:
    """A change that was undone."""

    action: str
    """The name of the command that made it, such as `delete`."""
    items: tuple[Item, ...]
    """What it had changed, as it is now; empty when these are many."""
    count: int
    """Items that are as before."""
    kept: int
    """Items that were changed again since, and stay as they are."""


def remember_action(settings: Settings, action: str, action_id: str) -> None:
    """Remember the last change, in place of the one before; a folder that cannot be written remembers nothing."""
    entries = _read(settings)
    entries.pop(_key(settings), None)
    kept = dict(list(entries.items())[-_MAX_LIBRARIES + 1 :])
    _write(settings, {**kept, _key(settings): {"action": action, "id": action_id}})


def forget_change(settings: Settings, why: str) -> None:
    """Remember that the last change cannot be undone, and why."""
    _write(settings, {**_read(settings), _key(settings): {"final": why}})


def undo_last(store: Store, settings: Settings) -> Undone:
    """Undo the last change; `NotFound` when there is none. What something else changed again since stays as it is."""
    entries = _read(settings)
    entry = entries.get(_key(settings), {})
    if "final" in entry:
        raise NotFound(entry["final"], suggestions=("Restore a backup if you have one.",))
    if "id" not in entry:
        raise NotFound(
            "There is nothing to undo.",
            suggestions=("Undone are pin, archive, tag, delete and their opposites, if this command line made them.",),
        )
    ids = store.action_items(entry["id"], MAX_SHOWN + 1)
    result = undo_whole(store, entry["id"])
    entries.pop(_key(settings))
    _write(settings, entries)
    items = tuple(existing_items(store, ids)) if len(ids) <= MAX_SHOWN else ()
    return Undone(entry["action"], items, result.undone, result.kept)


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
    with suppress(OSError), open(_path(settings), "w", encoding="utf-8", opener=private) as file:
        json.dump(entries, file, ensure_ascii=False, indent=1)
