"""`/lists`: saved searches, and lists that the user fills and orders."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.web.layout.page import Frame, ReadFrame, WriteFrame
from pagekeep.doors.http.web.lists.bulk import acted_toast
from pagekeep.errors import PagekeepError
from pagekeep.library.lists import lists
from pagekeep.library.lists.lists import MAX_COUNTED, Move

router = APIRouter()
_PAGE: Final = 50


@router.get("/lists")
def list_all(
    frame: ReadFrame,
    query: Annotated[str, Query(max_length=1_000)] = "",
    name: Annotated[str, Query(max_length=200)] = "",
) -> HTMLResponse:
    """Show the lists, and the forms that add one; `query` is a search to be saved."""
    return _show_all(frame, query=query, name=name)


def _show_all(frame: Frame, error: PagekeepError | None = None, **values: Any) -> HTMLResponse:
    return frame.show(
        "lists.html",
        status=status_of(error) if error else 200,
        lists=lists.list_lists(frame.library),
        counts=lists.count_lists(frame.library),
        most=MAX_COUNTED,
        problem=error,
        **{"query": "", "name": "", **values},
    )


@router.post("/lists")
def add_one(
    frame: WriteFrame,
    name: Annotated[str, Form(max_length=200)] = "",
    query: Annotated[str | None, Form(max_length=1_000)] = None,
) -> Response:
    """Add a list: a saved search, or one to fill."""
    try:
        made = lists.add_list(frame.library, name, query)
    except PagekeepError as error:
        return _show_all(frame, error, query=query or "", name=name)
    return RedirectResponse(f"/lists/{made.id}", 303)


@router.get("/lists/{list_id}")
def show_one(
    frame: ReadFrame,
    list_id: str,
    after: Annotated[str | None, Query(max_length=2_000)] = None,
    acted: Annotated[str, Query(max_length=100)] = "",
) -> HTMLResponse:
    """Show the pages of a list."""
    return _show_one(frame, list_id, after, acted)


def _show_one(
    frame: Frame, list_id: str, after: str | None = None, acted: str = "", error: PagekeepError | None = None
) -> HTMLResponse:
    found = lists.get_list(frame.library, list_id)
    try:
        page = lists.list_page(frame.library, found, limit=_PAGE, after=after)
        items, following = page.items, page.next
    except PagekeepError as failure:  # its search names a list that is gone
        error, items, following = error or failure, (), None
    return frame.show(
        "list.html",
        status=status_of(error) if error else 200,
        list=found,
        items=items,
        next=following,
        is_first=after is None,
        problem=error,
        toast=acted_toast(frame, acted),
    )


@router.post("/lists/{list_id}")
def change_one(
    frame: WriteFrame,
    list_id: str,
    action: Annotated[Literal["change", "delete"], Form()],
    name: Annotated[str | None, Form(max_length=200)] = None,
    query: Annotated[str | None, Form(max_length=1_000)] = None,
) -> Response:
    """Rename a list, change its search, or delete it."""
    if action == "delete":
        lists.remove_list(frame.library, list_id)
        return RedirectResponse("/lists", 303)
    found = lists.get_list(frame.library, list_id)
    try:
        lists.change_list(frame.library, found.id, name=name, query=query if found.kind == "search" else None)
    except PagekeepError as error:
        return _show_one(frame, found.id, error=error)
    return RedirectResponse(f"/lists/{found.id}", 303)


@router.post("/lists/{list_id}/items")
def change_place(
    frame: WriteFrame,
    list_id: str,
    item: Annotated[str, Form(max_length=100)],
    action: Annotated[Move | Literal["remove", "place"], Form()],
    before: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Move a page of a list, by a button or by dragging it, or remove it from the list."""
    target = f"/lists/{lists.get_list(frame.library, list_id).id}"
    if action == "remove":
        done = lists.remove_items(frame.library, list_id, [item])
        return RedirectResponse(f"{target}?acted={done.action.id}", 303)
    if action == "place":
        lists.move_item(frame.library, list_id, item, before=before or None)
    else:
        lists.move_by(frame.library, list_id, item, action)
    return Response(status_code=204) if frame.wants_part else RedirectResponse(f"{target}#item-{item}", 303)
