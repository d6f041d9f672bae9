"""Values of lists, save rules, edits, and changes of many items that can be undone. All frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any, Final, Literal

from pagekeep.model.library import Item, Job
from pagekeep.values import dataclass

ListKind = Literal["search", "manual"]
KeepPictures = Literal["all", "hero", "none"]


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


EDITABLE: Final = ("title", "author", "published_at", "site_name")
"""Fields that the user can edit. An item has the user's value; the page's own is in `page_values` of its metadata."""


def page_values(item: Item) -> dict[str, str | None]:
    """Return what the page itself says, by field."""
    own = item.metadata.page_values or {}
    return {name: own.get(name) if name in edited_fields(item) else _get(item, name) for name in EDITABLE}


def edited_fields(item: Item) -> tuple[str, ...]:
    """Return the fields that the user edited."""
    edits = item.metadata.edits or {}
    return tuple(name for name in EDITABLE if name in edits)


def carry_edits(old: Item, new: Item) -> Item:
    """Return a new version of an item with the edits of the old one; what the new page says is kept beside them."""
    return _set(new, page_values(new), old.metadata.edits or {})


def edit(item: Item, values: Mapping[str, str | None], reset: Iterable[str] = ()) -> Item:
    """Return the item with these fields edited, and others as the page has them.

    A value that the page itself has is not an edit.
    """
    own = page_values(item)
    edits = {**(item.metadata.edits or {}), **values}
    dropped = set(reset)
    kept = {name: value for name, value in edits.items() if name not in dropped and value != own.get(name)}
    return _set(item, own, kept)


def _set(item: Item, own: Mapping[str, str | None], edits: Mapping[str, Any]) -> Item:
    known = {name: edits[name] for name in EDITABLE if name in edits}
    shown = {**own, **known}
    metadata = replace(
        item.metadata,
        site_name=shown["site_name"],
        edits=known or None,
        page_values={name: own[name] for name in known} or None,
    )
    return replace(
        item,
        title=shown["title"] or item.url,
        author=shown["author"],
        published_at=shown["published_at"],
        metadata=metadata,
    )


def _get(item: Item, name: str) -> str | None:
    value: str | None = item.metadata.site_name if name == "site_name" else getattr(item, name)
    return value
