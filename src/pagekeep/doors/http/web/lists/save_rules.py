"""`/save-rules`: what happens to new pages that a search finds; tried on the library before it is switched on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.web.layout.page import Frame, ReadFrame, WriteFrame
from pagekeep.doors.http.web.lists.bulk import acted_toast
from pagekeep.errors import PagekeepError
from pagekeep.library.lists import lists, save_rules
from pagekeep.model.lists.values import SaveActions

router = APIRouter()
_Pictures = Literal["", "all", "hero", "none"]


def _actions(tags: str, archive: bool, pin: bool, pictures: _Pictures, list_ids: list[str]) -> SaveActions:
    named = tuple(tag.strip() for tag in tags.split(",") if tag.strip())
    return SaveActions(named, archive, pin, pictures or None, tuple(one for one in list_ids if one))


@router.get("/save-rules")
def show_rules(
    frame: ReadFrame,
    query: Annotated[str, Query(max_length=1_000)] = "",
    name: Annotated[str, Query(max_length=200)] = "",
    tags: Annotated[str, Query(max_length=500)] = "",
    archive: bool = False,
    pin: bool = False,
    pictures: _Pictures = "",
    lists: Annotated[list[str] | None, Query(max_length=20)] = None,
    rule: Annotated[str, Query(max_length=100)] = "",
    acted: Annotated[str, Query(max_length=100)] = "",
) -> HTMLResponse:
    """Show the save rules, and a form that tries and adds one; with `rule`, what that one would do."""
    if rule:
        found = save_rules.get_rule(frame.library, rule)
        return _show(frame, found.query, found.actions, found.name, tried=True, acted=acted, own=rule)
    actions = _actions(tags, archive, pin, pictures, lists or [])
    return _show(frame, query, actions, name, tried=bool(query), acted=acted)


def _show(
    frame: Frame,
    query: str = "",
    actions: SaveActions | None = None,
    name: str = "",
    *,
    tried: bool = False,
    error: PagekeepError | None = None,
    acted: str = "",
    own: str = "",
) -> HTMLResponse:
    actions, trial = actions or SaveActions(), None
    if tried and error is None:
        try:
            trial = save_rules.try_rule(frame.library, query, actions)
        except PagekeepError as failure:
            error = failure
    rules = save_rules.list_rules(frame.library)
    values: dict[str, Any] = {
        "rules": [(one, save_rules.describe_actions(frame.library, one.actions)) for one in rules],
        "lists": [one for one in lists.list_lists(frame.library) if one.kind == "manual"],
        "query": query,
        "name": name,
        "actions": actions,
        "trial": trial,
        "most": save_rules.MAX_COUNTED,
        "problem": error,
        "toast": acted_toast(frame, acted),
        "own": own,
    }
    return frame.show("save_rules.html", status=status_of(error) if error else 200, **values)


@router.post("/save-rules")
def add_one(
    frame: WriteFrame,
    query: Annotated[str, Form(max_length=1_000)] = "",
    name: Annotated[str, Form(max_length=200)] = "",
    tags: Annotated[str, Form(max_length=500)] = "",
    archive: Annotated[bool, Form()] = False,
    pin: Annotated[bool, Form()] = False,
    pictures: Annotated[_Pictures, Form()] = "",
    lists: Annotated[list[str] | None, Form(max_length=20)] = None,
) -> Response:
    """Add a rule, switched off."""
    actions = _actions(tags, archive, pin, pictures, lists or [])
    try:
        rule = save_rules.add_rule(frame.library, name, query, actions)
    except PagekeepError as error:
        return _show(frame, query, actions, name, error=error)
    return RedirectResponse(f"/save-rules?rule={rule.id}", 303)


@router.post("/save-rules/{rule_id}")
def change_one(
    frame: WriteFrame,
    rule_id: str,
    action: Annotated[Literal["on", "off", "up", "down", "apply", "delete"], Form()],
) -> Response:
    """Switch a rule on or off, move it, apply it to the pages of the library, or delete it."""
    library = frame.library
    if action in ("on", "off"):
        save_rules.change_rule(library, rule_id, enabled=action == "on")
    elif action in ("up", "down"):
        save_rules.move_rule(library, rule_id, -1 if action == "up" else 1)
    elif action == "delete":
        save_rules.remove_rule(library, rule_id)
    else:
        try:
            done = save_rules.apply_rule(library, rule_id)
        except PagekeepError as error:
            return _show(frame, error=error)
        if done.job:
            frame.service.background.nudge()
        return RedirectResponse(f"/save-rules?acted={done.action.id}", 303)
    return RedirectResponse("/save-rules", 303)
