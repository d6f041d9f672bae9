"""Values of lists, save rules, and changes of many items that can be undone. All frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal

from pagekeep.model.library import Item, Job
from pagekeep.values import dataclass

ListKind = Literal["search", "manual"]
KeepPictures = Literal["all", "hero", "none"]
LIST_KINDS: Final = ("search", "manual")


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list of the user: a saved search, or items in an order that the user chose."""

    id: str
    """UUID as text."""
    name: str
    kind: ListKind
    query: str
    """Of a saved search, in the query language; otherwise empty."""
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of the items of a list."""

    items: tuple[Item, ...]
    next: str | None
    """Opaque key of the next page; `None` at the end."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Items around one of a manual list, by id; `None` where there is none."""

    first: str | None
    previous: str | None
    next: str | None
    after_next: str | None


@dataclass(frozen=True, slots=True)
class SaveActions:
    """What a save rule does with a new item."""

    tags: tuple[str, ...] = ()
    archive: bool = False
    pin: bool = False
    keep_pictures: KeepPictures | None = None
    """In place of the setting `keep_pictures`."""
    lists: tuple[str, ...] = ()
    """Ids of lists to add the item to."""


@dataclass(frozen=True, slots=True)
class SaveRule:
    """What happens to new items that a search finds."""

    id: str
    name: str
    query: str
    """The condition, in the query language."""
    actions: SaveActions
    enabled: bool
    position: int
    """Rules apply in this order."""
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class ItemChange:
    """What to change about an item; what is left out stays."""

    pinned: bool | None = None
    archived: bool | None = None
    deleted: bool | None = None
    failed: bool | None = None
    """`False` keeps the bookmark of a failed save."""
    tags: tuple[str, ...] | None = None
    """In place of all tags."""
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    refuse_tags: tuple[str, ...] = ()
    """Suggested tags that are not to be suggested again."""
    notes: str | None = None
    """The user's notes about the item; an empty text removes them."""
    edits: Mapping[str, str | None] = field(default_factory=dict)
    """Fields that the user edits, of `EDITABLE`."""
    reset: tuple[str, ...] = ()
    """Fields that are to be the page's own again."""
    keep_pictures: KeepPictures | None = None
    add_to: tuple[str, ...] = ()
    """Ids of lists."""
    remove_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    """A change of one or more items, which can be undone."""

    id: str
    label: str
    """What was done, in words: "Added the tag harbour"."""
    created_at: str
    changed: int
    """Items that it changed."""
    waiting: int
    """Items that it has still to change."""
    undone_at: str | None = None


@dataclass(frozen=True, slots=True)
class UndoResult:
    """How much of an action was undone."""

    undone: int
    kept: int
    """Items that were changed again since, or removed, and stay as they are."""
    left: int
    """Items that are still to be undone."""


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a change of many items."""

    action: Action
    """What can be undone."""
    items: tuple[Item, ...] = ()
    """The items that were changed at once."""
    job: Job | None = None
    """The job that changes them, when they are many."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a rule would change about one page."""

    item: Item
    changes: tuple[str, ...]
    """In words; empty when the page is already as the rule would make it."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What a rule would do with the pages that are in the library."""

    count: int
    """Pages that it finds, counted up to 1,000."""
    effects: tuple[Effect, ...]
    """Of the first ones."""


def change_to_json(change: ItemChange) -> dict[str, Any]:
    """Return a change as the options of a job hold it."""
    default = ItemChange()
    values = {name: getattr(change, name) for name in ItemChange.__slots__}
    return {name: value for name, value in values.items() if value != getattr(default, name)}


def change_from_json(stored: Mapping[str, Any]) -> ItemChange:
    """Return the change that the options of a job hold."""
    values: dict[str, Any] = {name: stored[name] for name in ItemChange.__slots__ if name in stored}
    return ItemChange(**values | {name: tuple(value) for name, value in values.items() if isinstance(value, list)})
