"""Change items, whichever door it comes through: the engine of changes, edits of what a page says, and undo."""

from __future__ import annotations

import asyncio
import functools
import json
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import InvalidQuery, NotFound, PagekeepError
from pagekeep.library.items.find import asks_for_feeds, existing_items, get_item
from pagekeep.library.open import data_folder, remove_unused
from pagekeep.library.queue import SLICE_SECONDS, SliceResult
from pagekeep.model import Item, ItemQuery, Job
from pagekeep.model.lists import EDITABLE, Action, Done, ItemChange, UndoResult, change_from_json, change_to_json
from pagekeep.model.tags import clean_tags
from pagekeep.private_files import private
from pagekeep.store import Store, parse_query
from pagekeep.store.tables.jobs import SO_FAR
from pagekeep.text import one_line

TASK: Final = "bulk"
"""The value of `task` in the options of these jobs."""
MAX_AT_ONCE: Final = 200
"""Items that are changed at once, within about a second; more are changed by a job."""
_BATCH: Final = 100
"""Items changed in one transaction: others who write wait for it."""
_RETAGGED: Final = 2_000
"""Items whose tag is changed in one transaction: about a tenth of a second."""
_PAGE: Final = 1_000
"""Items found at a time, when no words are searched for."""
_WORDS_PAGE: Final = 200


Move = Literal["pin", "unpin", "archive", "unarchive", "delete", "restore"]
MOVES: Final[dict[Move, ItemChange]] = {
    "pin": ItemChange(pinned=True),
    "unpin": ItemChange(pinned=False),
    "archive": ItemChange(archived=True),
    "unarchive": ItemChange(archived=False),
    "delete": ItemChange(deleted=True),
    "restore": ItemChange(deleted=False),
}
"""Changes that commands and buttons have a name for."""


def change_item(store: Store, key: str, change: ItemChange, *, unchanged_since: str | None = None) -> Item:
    """Change one item; `Outdated` when its `updated_at` is not `unchanged_since`. No change is not an action."""
    item = get_item(store, key)
    if change == ItemChange() and unchanged_since is None:
        return item
    return change_selected(store, [item.id], change, describe(change), unchanged_since=unchanged_since).items[0]


def begin_action(store: Store, label: str) -> str:
    """Begin an action that can be undone, and return its id."""
    action_id = str(uuid.uuid4())
    store.actions.add(action_id, label[:200], clock.now())
    return action_id


def change_selected(
    store: Store, keys: Sequence[str], change: ItemChange, label: str, *, unchanged_since: str | None = None
) -> Done:
    """Change these items at once; those that do not exist are skipped, `NotFound` when none does."""
    action_id, change = str(uuid.uuid4()), clean_change(change)
    changed: list[Item] = []
    for at in range(0, len(keys), _BATCH):
        part, first = keys[at : at + _BATCH], label[:200] if not changed else None
        try:
            changed += store.actions.change(
                action_id, part, change, clock.now(), label=first, unchanged_since=unchanged_since
            )
        except NotFound:
            if changed:
                raise
    if not changed:
        raise NotFound("None of these items is in the library.")
    return Done(store.actions.get(action_id), tuple(changed))


def change_found(store: Store, query: str, change: ItemChange, label: str) -> Done:
    """Change all items that a search finds: at once when they are few, otherwise by a job of the queue."""
    ids, more = find_ids(store, query, limit=MAX_AT_ONCE + 1)
    if len(ids) <= MAX_AT_ONCE and more is None:
        if not ids:
            raise NotFound("The search finds no pages, so nothing was changed.")
        return change_selected(store, ids, change, label)
    options = {"query": query, "change": change_to_json(clean_change(change))}
    return _enqueue(store, begin_action(store, label), options)


def change_whole(store: Store, query: str, change: ItemChange, label: str, progress: Callable[[int], None]) -> Action:
    """Change all items that a search finds, however many, before returning; `progress` is called with how many are done."""
    action_id, after, count = begin_action(store, label), None, 0
    while True:
        after = _select(store, action_id, query, after)
        if after is None:
            break
    change = clean_change(change)
    while ids := store.actions.waiting_items(action_id, _BATCH):
        store.actions.change(action_id, ids, change, clock.now())
        count += len(ids)
        progress(count)
    return store.actions.get(action_id)


def retag_items(
    store: Store, tag: str, new: str | None, label: str, progress: Callable[[int], None] | None = None
) -> Done:
    """Rename a tag on all items that have it, or remove it with `None`; `NotFound` when none has it.

    The first items are changed at once, the others by a job; with `progress` all of them before it returns.
    """
    action_id, after, count = begin_action(store, label), None, 0
    while True:
        done = store.tags.retag(action_id, tag, new, clock.now(), after=after, limit=_RETAGGED)
        after, count = done.last, count + done.changed
        if after is None:
            break
        if progress is None:
            return _enqueue(
                store, action_id, {"retag": {"tag": tag, "new": new}, SO_FAR: {"after": after, "done": count}}
            )
        progress(count)
    if not count:
        store.actions.remove(action_id)
        raise NotFound(f"No page has the tag {tag:.80}.", suggestions=("See the list of tags.",))
    return Done(store.actions.get(action_id))


def reparse_selected(store: Store, keys: Sequence[str], label: str) -> Done:
    """Extract the stored pages of these items again, by a job."""
    action_id = begin_action(store, label)
    store.actions.add_waiting(action_id, [store.items.get(key).id for key in keys])
    return _enqueue(store, action_id, {"reparse": True})


def reparse_found(store: Store, query: str, label: str) -> Done:
    """Extract the stored pages of all items that a search finds again, by a job."""
    find_ids(store, query, limit=1)
    return _enqueue(store, begin_action(store, label), {"query": query, "reparse": True})


def undo_action(store: Store, action_id: str) -> tuple[UndoResult, Job | None]:
    """Undo an action: at once when it changed few items, otherwise the rest by a job. What changed again since stays."""
    result = store.actions.undo(action_id, MAX_AT_ONCE, clock.now())
    return result, _enqueue(store, action_id, {"undo": True}).job if result.left else None


def undo_whole(store: Store, action_id: str) -> UndoResult:
    """Undo an action, however many items it changed, before returning."""
    undone = kept = 0
    while True:
        result = store.actions.undo(action_id, _BATCH, clock.now())
        undone, kept = undone + result.undone, kept + result.kept
        if not result.left:
            return UndoResult(undone, kept, 0)


def purge_items(store: Store, item_ids: Sequence[str] | None = None, *, deleted_before: str | None = None) -> int:
    """Remove deleted items permanently, all or those with these ids; return how many. This cannot be undone.

    Their pictures follow a week after, unless other items use them.
    """
    count = store.items.purge(item_ids, deleted_before=deleted_before)
    remove_unused(store, sweep=False)
    return count


def describe(change: ItemChange) -> str:
    """Return what a change does, in words."""
    states = (
        (change.deleted, "Moved to the trash", "Restored"),
        (change.archived, "Archived", "Moved to the inbox"),
        (change.pinned, "Pinned", "Unpinned"),
        (change.failed, "Marked as failed", "Kept as a bookmark"),
    )
    words = [yes if state else no for state, yes, no in states if state is not None]
    words += [f"Added the tag {tag}" for tag in change.add_tags]
    words += [f"Removed the tag {tag}" for tag in change.remove_tags]
    words += ["Changed the tags"] * (change.tags is not None) + ["Changed the notes"] * (change.notes is not None)
    words += ["Refused suggested tags"] * bool(change.refuse_tags)
    words += ["Added to a list"] * bool(change.add_to) + ["Removed from a list"] * bool(change.remove_from)
    return ", ".join(words) or "Changed"


def find_ids(store: Store, text: str, *, limit: int = _PAGE, after: str | None = None) -> tuple[list[str], str | None]:
    """Return ids of items that a search finds, in its order, and the key of the next ones; `InvalidQuery` for `feed:`."""
    query = parse_query(text)
    if asks_for_feeds(query):
        raise InvalidQuery("Entries of the feed inbox are not in the library.", suggestions=("Keep them first.",))
    query = store.search.expand(query)
    words = bool(query.terms or query.excluded)
    size = min(limit, _WORDS_PAGE if words else _PAGE)
    found = (
        replace(query, limit=size, after=after) if words else ItemQuery(filters=query.filters, limit=size, after=after)
    )
    page = store.search.find(found)
    return [item.id for item in page.items], page.next


def clean_change(change: ItemChange) -> ItemChange:
    """Return a change with its tags as they are stored."""

    return replace(
        change,
        tags=None if change.tags is None else clean_tags(change.tags),
        add_tags=clean_tags(change.add_tags),
        remove_tags=clean_tags(change.remove_tags),
        refuse_tags=clean_tags(change.refuse_tags),
    )


Reparse = Callable[[str, Store, Retrieval], Awaitable[object]]
"""Extracts the stored page of an item again, by its id."""


async def bulk_job(
    job: Job, store: Store, retrieval: Retrieval, progress: Callable[[str], None], *, reparse: Reparse
) -> SliceResult:
    """Select the items of an action and change them, or undo it; a part at a time, and again from there when killed."""
    options, time = job.options, asyncio.get_running_loop().time
    action_id, until = str(options["action"]), time() + SLICE_SECONDS
    state: dict[str, Any] = {"selected": "query" not in options, **options.get(SO_FAR, {})}
    while await asyncio.to_thread(_goes_on, store, action_id, options):
        if options.get("undo"):
            result = await asyncio.to_thread(store.actions.undo, action_id, _BATCH, clock.now())
            state["done"] = state.get("done", 0) + result.undone
            is_done = not result.left
        elif "retag" in options:
            change = functools.partial(
                store.tags.retag, action_id, **options["retag"], now=clock.now(), limit=_RETAGGED
            )
            part = await asyncio.to_thread(change, after=state.get("after"))
            state["after"], state["done"] = part.last, state.get("done", 0) + part.changed
            is_done = part.last is None
        elif not state["selected"]:
            state["after"] = await asyncio.to_thread(_select, store, action_id, options["query"], state.get("after"))
            state["selected"], is_done = state["after"] is None, False
        else:
            count = await _change_some(store, action_id, options, retrieval, reparse)
            state["done"], is_done = state.get("done", 0) + count, not count
        if is_done:
            break
        progress(f"{state.get('done', 0):,} pages done")
        if time() >= until:
            return SliceResult(so_far=state)
    return SliceResult(report={"action": action_id, "done": state.get("done", 0)})


def _goes_on(store: Store, action_id: str, options: Mapping[str, Any]) -> bool:
    """Return whether the action was not undone in the meantime. A tag is renamed to the end also when it was forgotten."""
    try:
        return bool(options.get("undo")) or store.actions.get(action_id).undone_at is None
    except NotFound:
        return "retag" in options


def _select(store: Store, action_id: str, query: str, after: str | None) -> str | None:
    ids, after = find_ids(store, query, after=after)
    store.actions.add_waiting(action_id, ids)
    return after


async def _change_some(store: Store, action_id: str, options: Any, retrieval: Retrieval, reparse: Reparse) -> int:
    """Change the next items of an action, or extract their pages again; return how many."""
    if options.get("reparse"):
        ids = await asyncio.to_thread(store.actions.waiting_items, action_id, 10)
        for item_id in ids:
            before: Item | None = None
            try:
                before = await asyncio.to_thread(store.items.get, item_id)
                await reparse(item_id, store, retrieval)
            except PagekeepError:  # the item stays as it is
                before = None
            await asyncio.to_thread(store.actions.record_reparse, action_id, item_id, before)
        return len(ids)
    ids = await asyncio.to_thread(store.actions.waiting_items, action_id, _BATCH)
    if ids:
        change = change_from_json(options.get("change", {}))
        await asyncio.to_thread(store.actions.change, action_id, ids, change, clock.now())
    return len(ids)


def _enqueue(store: Store, action_id: str, options: dict[str, Any]) -> Done:
    kind = "undo" if "undo" in options else TASK
    job = store.jobs.add(
        f"pagekeep:{kind}/{action_id}", f"pagekeep:{kind}", {"task": TASK, "action": action_id, **options}, clock.now()
    )
    return Done(store.actions.get(action_id), job=job)


FIELD_LABELS: Final = {"title": "title", "author": "author", "published_at": "date", "site_name": "site"}
_MAX_CHARS: Final = {"title": 1_000, "author": 500, "published_at": 40, "site_name": 300}


def edit_item(
    store: Store,
    key: str,
    values: Mapping[str, str],
    *,
    reset: Sequence[str] = (),
    tags: tuple[str, ...] | None = None,
) -> Done:
    """Edit fields of an item, so that it can be undone; an empty value removes what the page says.

    Fields in `reset` are the page's own again. `InvalidQuery` for an empty title, or a date that is not one.
    """
    item = get_item(store, key)
    edits = check_edits(values)
    change = ItemChange(edits=edits, reset=check_fields(reset), tags=tags)
    changed = [FIELD_LABELS[name] for name in (*edits, *reset)] + (["tags"] if tags is not None else [])
    label = f"Edited the {' and the '.join(dict.fromkeys(changed)) or 'page'}"
    return change_selected(store, [item.id], change, label)


def check_edits(values: Mapping[str, str]) -> dict[str, str | None]:
    """Return edits of fields as they are stored; `InvalidQuery` for an empty title, or a date that is not one."""
    return {name: check_value(name, value) for name, value in values.items()}


def check_fields(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of fields; `InvalidQuery` for one that cannot be edited."""
    for name in names:
        if name not in EDITABLE:
            raise InvalidQuery(f"The field {name:.40} cannot be edited.", suggestions=(f"Use {', '.join(EDITABLE)}.",))
    return tuple(names)


def check_value(name: str, value: str) -> str | None:
    """Return a value as it is stored; `None` for none."""
    check_fields([name])
    text = one_line(value)[: _MAX_CHARS[name]]
    if name == "title" and not text:
        raise InvalidQuery("The title is empty.", suggestions=("Enter one, or use the page's own title.",))
    if name == "published_at" and text:
        return _check_date(text)
    return text or None


def _check_date(text: str) -> str:
    """Return a year, month, day or time."""
    if clock.begin_of(text) is None:
        raise InvalidQuery(f"{text:.40} is not a date.", suggestions=("Write it as 2025-03-19.",))
    return text


_UNDO_FILE: Final = "undo.json"
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
    entries = _read_undo(settings)
    entries.pop(_undo_key(settings), None)
    kept = dict(list(entries.items())[-_MAX_LIBRARIES + 1 :])
    _write_undo(settings, {**kept, _undo_key(settings): {"action": action, "id": action_id}})


def forget_change(settings: Settings, why: str) -> None:
    """Remember that the last change cannot be undone, and why."""
    _write_undo(settings, {**_read_undo(settings), _undo_key(settings): {"final": why}})


def undo_last(store: Store, settings: Settings) -> Undone:
    """Undo the last change; `NotFound` when there is none. What something else changed again since stays as it is."""
    entries = _read_undo(settings)
    entry = entries.get(_undo_key(settings), {})
    if "final" in entry:
        raise NotFound(entry["final"], suggestions=("Restore a backup if you have one.",))
    if "id" not in entry:
        raise NotFound(
            "There is nothing to undo.",
            suggestions=("Undone are pin, archive, tag, delete and their opposites, if this command line made them.",),
        )
    ids = store.actions.changed_items(entry["id"], MAX_SHOWN + 1)
    result = undo_whole(store, entry["id"])
    entries.pop(_undo_key(settings))
    _write_undo(settings, entries)
    items = tuple(existing_items(store, ids)) if len(ids) <= MAX_SHOWN else ()
    return Undone(entry["action"], items, result.undone, result.kept)


def _undo_key(settings: Settings) -> str:
    where = settings.library or "default"
    return f"{settings.user} {where.rpartition('@')[2]}"  # without the password of a server


def _undo_path(settings: Settings) -> Path:
    return data_folder(settings) / _UNDO_FILE


def _read_undo(settings: Settings) -> dict[str, Any]:
    try:
        entries = json.loads(_undo_path(settings).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _write_undo(settings: Settings, entries: dict[str, Any]) -> None:
    with suppress(OSError), open(_undo_path(settings), "w", encoding="utf-8", opener=private) as file:
        json.dump(entries, file, ensure_ascii=False, indent=1)
