"""The JSON shapes of lists, save rules and actions, as in `json_shapes`."""

from __future__ import annotations

from typing import Literal

from pagekeep.model import Job as JobValue
from pagekeep.model import lists as model
from pagekeep.present.json_shapes import Item, Job, TypedDict, same_as, shape_of, to_json


@shape_of(model.ItemList)
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


@same_as(model.SaveActions)
class SaveActions(TypedDict):
    """What a save rule does."""


@same_as(model.SaveRule, omit="position")
class SaveRule(TypedDict):
    """What happens to new items that a search finds."""

    actions: SaveActions


@same_as(model.Effect)
class Effect(TypedDict):
    """What a save rule would change about an item."""

    item: Item


@same_as(model.Trial)
class TrialShape(TypedDict):
    """What a save rule would do with the items of the library."""

    effects: list[Effect]


@same_as(model.Action)
class Action(TypedDict):
    """A change that can be undone."""


@shape_of(model.Done)
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


def undone_shape(action: model.Action, result: model.UndoResult, job: JobValue | None) -> Undone:
    """Return the result of undoing an action."""
    return {
        "action": to_json(Action, action),
        "undone": result.undone,
        "kept": result.kept,
        "job": to_json(Job, job) if job else None,
    }
