"""`/lists`, `/save-rules` and `/suggested-tags`: lists, what happens to new pages, and suggested tags of many pages."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.web.bulk import acted_toast
from pagekeep.doors.http.web.layout import Frame, ReadFrame, WriteFrame
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.library.items import lists, save_rules
from pagekeep.library.items import tags as suggestions
from pagekeep.library.items.lists import MAX_COUNTED, Move
from pagekeep.model.lists import SaveActions

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
        lists=frame.library.lists.list(),
        counts=lists.count_lists(frame.library),
        most=MAX_COUNTED,
        problem=error,
        **{"query": "", "name": "", **values},
    )


@router.post("/lists")
def add_list(
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
    found = frame.library.lists.get(list_id)
    try:
        page = lists.list_page(frame.library, found, limit=_PAGE, after=after)
        items, following = page.items, page.next
    except PagekeepError as failure:  # its search names a list that is gone
        error, items, following = error or failure, (), None
    return frame.show(
        "list.html",
        list=found,
        items=items,
        next=following,
        is_first=after is None,
        problem=error,
        toast=acted_toast(frame, acted),
    )


@router.post("/lists/{list_id}")
def change_list(
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
    found = frame.library.lists.get(list_id)
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
    target = f"/lists/{frame.library.lists.get(list_id).id}"
    if action == "remove":
        done = lists.remove_items(frame.library, list_id, [item])
        return RedirectResponse(f"{target}?acted={done.action.id}", 303)
    if action == "place":
        lists.move_item(frame.library, list_id, item, before=before or None)
    else:
        lists.move_by(frame.library, list_id, item, action)
    return Response(status_code=204) if frame.wants_part else RedirectResponse(f"{target}#item-{item}", 303)


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
        return _show_rules(frame, found.query, found.actions, found.name, tried=True, acted=acted, own=rule)
    actions = _actions(tags, archive, pin, pictures, lists or [])
    return _show_rules(frame, query, actions, name, tried=bool(query), acted=acted)


def _show_rules(
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
    rules = frame.library.save_rules.list()
    values: dict[str, Any] = {
        "rules": [(one, save_rules.describe_actions(frame.library, one.actions)) for one in rules],
        "lists": [one for one in frame.library.lists.list() if one.kind == "manual"],
        "query": query,
        "name": name,
        "actions": actions,
        "trial": trial,
        "most": save_rules.MAX_COUNTED,
        "problem": error,
        "toast": acted_toast(frame, acted),
        "own": own,
    }
    return frame.show("save_rules.html", **values)


@router.post("/save-rules")
def add_rule(
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
        return _show_rules(frame, query, actions, name, error=error)
    return RedirectResponse(f"/save-rules?rule={rule.id}", 303)


@router.post("/save-rules/{rule_id}")
def change_rule(
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
            return _show_rules(frame, error=error)
        if done.job:
            frame.service.background.nudge()
        return RedirectResponse(f"/save-rules?acted={done.action.id}", 303)
    return RedirectResponse("/save-rules", 303)


_SUGGESTIONS_PAGE: Final = 20
_MAX_PICKED: Final = 400


@router.get("/suggested-tags")
def show_suggestions(frame: ReadFrame, after: Annotated[str | None, Query(max_length=2_000)] = None) -> HTMLResponse:
    """Show pages with suggested tags, last saved first."""
    return frame.show(
        "suggestions.html", page=suggestions.list_suggestions(frame.library, limit=_SUGGESTIONS_PAGE, after=after)
    )


@router.post("/suggested-tags")
def decide(
    frame: WriteFrame,
    action: Annotated[Literal["accept", "refuse"], Form()],
    picked: Annotated[list[str] | None, Form(max_length=_MAX_PICKED)] = None,
    one: Annotated[str, Form(max_length=400)] = "",
) -> Response:
    """Accept or refuse tags; each is named as the item's id, a colon and the tag."""
    chosen: dict[str, list[str]] = {}
    for pair in [one] if one else picked or []:
        item_id, _, tag = pair.partition(":")
        chosen.setdefault(item_id, []).append(tag[:200])
    decide_tags = suggestions.accept_tags if action == "accept" else suggestions.refuse_tags
    for item_id, tags in chosen.items():
        try:
            decide_tags(frame.library, item_id, tuple(tags))
        except NotFound:  # purged in the meantime, or never there
            continue
    return RedirectResponse("/suggested-tags", 303)
