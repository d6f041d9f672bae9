"""The JSON shapes of lists, save rules and actions, as in `json_shapes`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pagekeep.model import lists as model
from pagekeep.present.json_shapes import Item, Job, item_shape, job_shape

if TYPE_CHECKING:
    from typing import TypedDict

    from pagekeep.model import Job as JobValue
else:
    try:
        from typing_extensions import TypedDict
    except ImportError:
        from typing import TypedDict


class ItemList(TypedDict):
    """A list."""

    id: str
    name: str
    kind: Literal["search", "manual"]
    """`search`: a saved search; `manual`: items that the user added, in the user's order."""
    query: str
    """Of a saved search."""
    count: int | None
    """Items of a manual list, counted up to 1,000; otherwise null."""
    created_at: str
    updated_at: str


class SaveActions(TypedDict):
    """What a save rule does."""

    tags: list[str]
    archive: bool
    pin: bool
    keep_pictures: Literal["all", "hero", "none"] | None
    lists: list[str]
    """Ids of lists."""


class SaveRule(TypedDict):
    """What happens to new items that a search finds."""

    id: str
    name: str
    query: str
    actions: SaveActions
    enabled: bool
    created_at: str
    updated_at: str


class Effect(TypedDict):
    """What a save rule would change about an item."""

    item: Item
    changes: list[str]


class TrialShape(TypedDict):
    """What a save rule would do with the items of the library."""

    count: int
    """Items that it finds, counted up to 1,000."""
    effects: list[Effect]
    """Of the first of them."""


class Action(TypedDict):
    """A change that can be undone."""

    id: str
    label: str
    created_at: str
    changed: int
    waiting: int
    """Items that are still to be changed, counted up to 1,000."""
    undone_at: str | None


class Changed(TypedDict):
    """The result of a change of many items."""

    action: Action
    items: list[Item]
    """Those that were changed at once; none when a job changes them."""
    job: Job | None


class Undone(TypedDict):
    """The result of undoing an action."""

    action: Action
    undone: int
    kept: int
    """Items that were changed again since, or removed: they stay as they are."""
    job: Job | None
    """The job that undoes the rest, when the action changed many items."""


def list_shape(one: model.ItemList, count: int | None = None) -> ItemList:
    """Return a list without its items."""
    return {
        "id": one.id,
        "name": one.name,
        "kind": one.kind,
        "query": one.query,
        "count": count,
        "created_at": one.created_at,
        "updated_at": one.updated_at,
    }


def rule_shape(rule: model.SaveRule) -> SaveRule:
    """Return a save rule."""
    actions = rule.actions
    return {
        "id": rule.id,
        "name": rule.name,
        "query": rule.query,
        "actions": {
            "tags": list(actions.tags),
            "archive": actions.archive,
            "pin": actions.pin,
            "keep_pictures": actions.keep_pictures,
            "lists": list(actions.lists),
        },
        "enabled": rule.enabled,
        "created_at": rule.created_at,
        "updated_at": rule.updated_at,
    }


def trial_shape(trial: model.Trial) -> TrialShape:
    """Return what a save rule would do."""
    effects: list[Effect] = [{"item": item_shape(one.item), "changes": list(one.changes)} for one in trial.effects]
    return {"count": trial.count, "effects": effects}


def action_shape(action: model.Action) -> Action:
    """Return an action."""
    return {
        "id": action.id,
        "label": action.label,
        "created_at": action.created_at,
        "changed": action.changed,
        "waiting": action.waiting,
        "undone_at": action.undone_at,
    }


def changed_shape(done: model.Done) -> Changed:
    """Return the result of a change of many items."""
    return {
        "action": action_shape(done.action),
        "items": [item_shape(item) for item in done.items],
        "job": job_shape(done.job) if done.job else None,
    }


def undone_shape(action: model.Action, result: model.UndoResult, job: JobValue | None) -> Undone:
    """Return the result of undoing an action."""
    return {
        "action": action_shape(action),
        "undone": result.undone,
        "kept": result.kept,
        "job": job_shape(job) if job else None,
    }
