"""Rename, merge and delete a tag on all items that have it: some at once, the others by a job; it can be undone."""

from __future__ import annotations

from collections.abc import Callable

from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library.actions import retag_items, undo_action, undo_whole
from pagekeep.model import Job
from pagekeep.model.lists.values import Action, Done, UndoResult
from pagekeep.model.tags import MAX_TAG_CHARS, clean_tag
from pagekeep.store import Store

Progress = Callable[[int], None]


def rename_tag(store: Store, tag: str, new: str, *, progress: Progress | None = None) -> Done:
    """Give another name to a tag on all items; if another tag has that name, both become one.

    With `progress`, which is called with how many are done, all items are changed before it returns.
    """
    name = clean_tag(new)
    if not name or len(name) > MAX_TAG_CHARS or "," in name:
        raise InvalidQuery(
            "This cannot be the name of a tag.",
            suggestions=(f"Use one line without commas, of at most {MAX_TAG_CHARS} characters.",),
        )
    return retag_items(store, clean_tag(tag), name, f"Renamed the tag {clean_tag(tag)} to {name}", progress)


def delete_tag(store: Store, tag: str, *, progress: Progress | None = None) -> Done:
    """Remove a tag from all items; `progress` as for `rename_tag`."""
    return retag_items(store, clean_tag(tag), None, f"Removed the tag {clean_tag(tag)}", progress)


def undo_tags(store: Store, action_id: str, *, whole: bool = False) -> tuple[UndoResult, Job | None]:
    """Undo a change of a tag, with `whole` before returning. Items that were changed again since stay as they are."""
    return (undo_whole(store, action_id), None) if whole else undo_action(store, action_id)


def get_change(store: Store, action_id: str) -> Action | None:
    """Return a change of a tag; `None` when it was undone or is forgotten."""
    try:
        action = store.action(action_id)
    except NotFound:
        return None
    return action if action.undone_at is None else None
