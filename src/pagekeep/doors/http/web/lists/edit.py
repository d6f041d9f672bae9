"""`/items/{key}/edit` and `/items/{key}/lists`: edit what a page says about itself, and put it on lists."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.web.layout.page import Frame, ReadFrame, WriteFrame
from pagekeep.errors import PagekeepError
from pagekeep.library.items import get_item
from pagekeep.library.lists import lists
from pagekeep.library.lists.edit import LABELS, edit_item
from pagekeep.model import Item
from pagekeep.model.lists.edits import edited_fields, page_values

router = APIRouter()
_Field = Annotated[str | None, Form(max_length=2_000)]
_SHOWN: Final = {"title": "Title", "author": "Author", "published_at": "Date", "site_name": "Site"}


def edit_values(frame: Frame, item: Item) -> dict[str, Any]:
    """Return what the part `_edit.html` of a page shows."""
    own, edited = page_values(item), edited_fields(item)
    manual = [one for one in lists.list_lists(frame.library) if one.kind == "manual"]
    return {
        "edit_fields": [
            {
                "name": name,
                "label": label,
                "value": (item.metadata.site_name if name == "site_name" else getattr(item, name)) or "",
                "own": own[name] or "",
                "edited": name in edited,
            }
            for name, label in _SHOWN.items()
        ],
        "edited_labels": [LABELS[name] for name in edited],
        "item_lists": lists.lists_of(frame.library, item.id),
        "manual_lists": manual,
    }


@router.get("/items/{key}/edit")
def show_edit_form(frame: ReadFrame, key: str) -> HTMLResponse:
    """Show the form that edits an item, on a page for itself."""
    return _show_form(frame, get_item(frame.library, key))


def _show_form(frame: Frame, item: Item, error: PagekeepError | None = None) -> HTMLResponse:
    status = status_of(error) if error else 200
    return frame.show("edit.html", status=status, item=item, problem=error, **edit_values(frame, item))


@router.post("/items/{key}/edit")
def edit_fields(
    frame: WriteFrame,
    key: str,
    title: _Field = None,
    author: _Field = None,
    published_at: _Field = None,
    site_name: _Field = None,
    tags: _Field = None,
    reset: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    """Store what was edited, or use the page's own value of a field again."""
    item = get_item(frame.library, key)
    given = {"title": title, "author": author, "published_at": published_at, "site_name": site_name}
    now = {**{name: getattr(item, name, None) for name in given}, "site_name": item.metadata.site_name}
    values = {name: value for name, value in given.items() if value is not None and value.strip() != (now[name] or "")}
    new_tags = None if tags is None else tuple(tag.strip() for tag in tags.split(",") if tag.strip())
    try:
        if reset:
            done = edit_item(frame.library, item.id, {}, reset=[reset])
        elif values or (new_tags is not None and new_tags != item.metadata.tags):
            done = edit_item(frame.library, item.id, values, tags=new_tags)
        else:
            return RedirectResponse(f"/items/{item.id}", 303)
    except PagekeepError as error:
        return _show_form(frame, item, error)
    return RedirectResponse(f"/items/{item.id}?acted={done.action.id}", 303)


@router.post("/items/{key}/lists")
def put_on_list(
    frame: WriteFrame,
    key: str,
    add: Annotated[str, Form(max_length=200)] = "",
    remove: Annotated[str, Form(max_length=200)] = "",
    name: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Add an item to a list, which may be a new one, or remove it from one."""
    item = get_item(frame.library, key)
    if name.strip():
        add = lists.add_list(frame.library, name).id
    change = lists.add_items if add else lists.remove_items
    done = change(frame.library, add or remove, [item.id])
    return RedirectResponse(f"/items/{item.id}?acted={done.action.id}", 303)
