"""`/bulk` and `/actions`: change the selected pages or all that match, and undo it."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, cast
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from pagekeep.doors.http.middleware.origins import own_path
from pagekeep.doors.http.responses import download
from pagekeep.doors.http.web.layout import Frame, ReadFrame, WriteFrame
from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library.exports.run import FILES, ExportOptions, Format
from pagekeep.library.items import change as actions
from pagekeep.library.items.lists import add_list, get_manual
from pagekeep.library.open import Store
from pagekeep.model.lists import Action, Done, ItemChange
from pagekeep.model.tags import clean_tags

router = APIRouter()
_MAX_IDS: Final = 500
"""Items of one form."""
_MAX_ACTIONS: Final = 50
BulkAction = Literal[
    "tag", "untag", "list", "unlist", "archive", "unarchive", "pin", "unpin", "delete", "restore", "reparse", "export"
]


@router.post("/bulk")
async def change_many(
    frame: WriteFrame,
    bulk: Annotated[BulkAction, Form()],
    ids: Annotated[list[str] | None, Form(max_length=_MAX_IDS)] = None,
    scope: Annotated[Literal["selected", "all"], Form()] = "selected",
    query: Annotated[str, Form(max_length=2_000)] = "",
    tags: Annotated[str, Form(max_length=500)] = "",
    list_id: Annotated[str, Form(max_length=200)] = "",
    list_name: Annotated[str, Form(max_length=200)] = "",
    format: Annotated[Format, Form()] = "markdown",
    back: Annotated[str, Form(max_length=4_000)] = "/",
) -> Response:
    """Change the selected items, or all that the search of the page finds; or export them."""
    chosen = None if scope == "all" else tuple(ids or ())
    if chosen == ():
        raise InvalidQuery("No page is selected.", suggestions=("Select pages, or choose all that match.",))
    if bulk == "export":
        return await _export(frame, ExportOptions(format, None if chosen else query, ids=chosen))
    done = await run_in_threadpool(_act, frame.library, bulk, chosen, query, tags, list_id, list_name)
    if done.job:
        frame.service.background.nudge()
    return redirect_acted(back, done)


def _act(
    library: Store,
    bulk: BulkAction,
    chosen: tuple[str, ...] | None,
    query: str,
    tags: str,
    list_id: str,
    list_name: str,
) -> Done:
    if bulk == "reparse":
        if chosen is None:
            return actions.reparse_found(library, query, "Extracted again")
        return actions.reparse_selected(library, chosen, "Extracted again")
    change, label = _change(library, bulk, tags, list_id, list_name)
    if chosen is None:
        return actions.change_found(library, query, change, label)
    return actions.change_selected(library, chosen, change, label)


def _change(library: Store, bulk: BulkAction, tags: str, list_id: str, list_name: str) -> tuple[ItemChange, str]:
    named = clean_tags(tags.split(","))
    if bulk in ("tag", "untag"):
        if not named:
            raise InvalidQuery("No tag is entered.", suggestions=("Enter one or more, separated by commas.",))
        change = ItemChange(add_tags=named) if bulk == "tag" else ItemChange(remove_tags=named)
        return change, actions.describe(change)
    if bulk in ("list", "unlist"):
        if not list_id and not list_name.strip():
            raise InvalidQuery("No list is chosen.", suggestions=("Choose a list, or enter the name of a new one.",))
        found = add_list(library, list_name) if list_name.strip() else get_manual(library, list_id)
        if bulk == "list":
            return ItemChange(add_to=(found.id,)), f"Added to the list {found.name}"
        return ItemChange(remove_from=(found.id,)), f"Removed from the list {found.name}"
    move = actions.MOVES[cast("actions.Move", bulk)]
    return move, actions.describe(move)


async def _export(frame: Frame, options: ExportOptions) -> Response:
    parts = await frame.service.exports.start(frame.caller.user_id, options)
    return download(parts, *FILES[options.format])


@router.get("/actions")
def list_recent(frame: ReadFrame, undone: Annotated[str, Query(max_length=100)] = "") -> HTMLResponse:
    """Show the last changes, each with a button that undoes it."""
    return frame.show("actions.html", actions=frame.library.actions.list(_MAX_ACTIONS), undone=undone)


@router.post("/actions/{action_id}/undo")
def undo_one(frame: WriteFrame, action_id: str, back: Annotated[str, Form(max_length=4_000)] = "") -> Response:
    """Undo a change."""
    result, job = actions.undo_action(frame.library, action_id)
    if job:
        frame.service.background.nudge()
    if frame.wants_part:
        kept = f" {result.kept:,} stay, as they were changed again since." if result.kept else ""
        return frame.show("_toast.html", toast={"text": f"Undone.{kept}"})
    return RedirectResponse(own_path(back) if back else f"/actions?undone={action_id}", 303)


def redirect_acted(back: str, done: Done) -> Response:
    """Return to a page, which then shows what was done and can undo it."""
    target = own_path(back)
    return RedirectResponse(f"{target}{'&' if '?' in target else '?'}{urlencode({'acted': done.action.id})}", 303)


def acted_toast(frame: Frame, acted: str) -> dict[str, Any] | None:
    """Return the message about an action that was just done, with its undo; `None` when there is none."""
    try:
        action = frame.library.actions.get(acted) if acted else None
    except NotFound:
        return None
    return None if action is None or action.undone_at else {"text": describe_action(action), "action": action.id}


def describe_action(action: Action) -> str:
    """Return what an action did, and to how many pages."""
    if action.waiting or not action.changed:
        return f"{action.label}: in progress." if action.waiting else f"{action.label}."
    return f"{action.label} ({action.changed:,} pages)." if action.changed > 1 else f"{action.label}."
