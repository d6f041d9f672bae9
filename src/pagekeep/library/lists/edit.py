"""Edit an item: its title, author, date and name of the site, in place of what the page says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pagekeep import clock
from pagekeep.errors import InvalidQuery
from pagekeep.library.actions import change_selected
from pagekeep.library.items import get_item
from pagekeep.model.lists.edits import EDITABLE
from pagekeep.model.lists.values import Done, ItemChange
from pagekeep.store import Store
from pagekeep.text import one_line

LABELS: Final = {"title": "title", "author": "author", "published_at": "date", "site_name": "site"}
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
    changed = [LABELS[name] for name in (*edits, *reset)] + (["tags"] if tags is not None else [])
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
