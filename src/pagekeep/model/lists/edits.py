"""What the user set about an item in place of what the page says: title, author, date and name of the site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from pagekeep.model.library import Item

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
