"""`/api/v1/lists` and `/api/v1/save-rules`: saved searches, lists that the user fills, and what happens to new pages."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from pagekeep.doors.http.api.items import PageKey
from pagekeep.doors.http.api.request_models import ItemKey, RequestBody, Tag
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import Json, TaggedRoute
from pagekeep.doors.http.service import CurrentService
from pagekeep.library.items import lists, save_rules
from pagekeep.model import lists as model
from pagekeep.present.json_shapes import Items, items_shape, to_json
from pagekeep.present.list_shapes import (
    Changed,
    ItemList,
    SaveRule,
    TrialShape,
)

router = APIRouter(prefix="/api/v1", tags=["lists"], route_class=TaggedRoute)
ListId = Annotated[str, Path(max_length=200, description="The list's ID or name.")]
ListedId = Annotated[str, Path(max_length=100, description="The item's ID.")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
SearchText = Annotated[str, StringConstraints(max_length=1_000)]


class NewList(RequestBody):
    """A list to add."""

    name: Name = Field(examples=["To read"])
    query: SearchText | None = Field(
        None, description="For a saved search; without it, a list to fill.", examples=["tag:harbour -is:archived"]
    )


class ListChanges(RequestBody):
    """Changes to a list; what is left out stays."""

    name: Name | None = None
    query: SearchText | None = Field(None, description="Of a saved search.")


class ListedItems(RequestBody):
    """Items to add to a list."""

    ids: list[ItemKey] = Field(min_length=1, max_length=500)


class NewPlace(RequestBody):
    """Where an item of a list is to be."""

    before: ItemKey | None = Field(None, description="The item of the list before which it is to be; null for the end.")


OneList = TypedDict("OneList", {"list": ItemList})
Lists = TypedDict("Lists", {"lists": list[ItemList]})


@router.get("/lists", responses=error_responses())
def show_lists(library: ReadLibrary) -> Lists:
    """Return all lists by name."""
    counts = lists.count_lists(library)
    return {"lists": [to_json(ItemList, one, count=counts.get(one.id)) for one in library.lists.list()]}


@router.post("/lists", status_code=201, responses=error_responses(409))
def add_list(body: NewList, library: WriteLibrary) -> OneList:
    """Add a list: a saved search with `query`, otherwise an empty one to fill."""
    return {"list": to_json(ItemList, lists.add_list(library, body.name, body.query), count=None)}


@router.get("/lists/{list_id}", responses=error_responses(404))
def show_list(list_id: ListId, library: ReadLibrary) -> OneList:
    """Return a list without its items."""
    found = library.lists.get(list_id)
    return {"list": to_json(ItemList, found, count=lists.count_lists(library).get(found.id))}


@router.patch("/lists/{list_id}", responses=error_responses(404, 409))
def change_list(list_id: ListId, body: ListChanges, library: WriteLibrary) -> OneList:
    """Rename a list, or change what a saved search finds."""
    changed = lists.change_list(library, list_id, name=body.name, query=body.query)
    return {"list": to_json(ItemList, changed, count=None)}


@router.delete("/lists/{list_id}", status_code=204, responses=error_responses(404))
def remove_list(list_id: ListId, library: WriteLibrary) -> None:
    """Delete a list; its items stay in the library."""
    lists.remove_list(library, list_id)


@router.get("/lists/{list_id}/items", response_model=Items, responses=error_responses(404))
def show_list_items(
    list_id: ListId, library: ReadLibrary, limit: Annotated[int, Query(ge=1, le=200)] = 50, after: PageKey = None
) -> Json:
    """Return the items of a list: in the user's order, or as its search finds them."""
    page = lists.list_page(library, library.lists.get(list_id), limit=limit, after=after)
    return Json(items_shape(page.items, page.next))


@router.post("/lists/{list_id}/items", responses=error_responses(404))
def add_list_items(list_id: ListId, body: ListedItems, library: WriteLibrary) -> Changed:
    """Add items at the end of a list, in this order; those that are in it stay where they are."""
    return to_json(Changed, lists.add_items(library, list_id, body.ids))


@router.put("/lists/{list_id}/items/{item_id}", status_code=204, responses=error_responses(404))
def move_list_item(list_id: ListId, item_id: ListedId, body: NewPlace, library: WriteLibrary) -> None:
    """Move an item of a list before another one, or to the end."""
    lists.move_item(library, list_id, item_id, before=body.before)


@router.delete("/lists/{list_id}/items/{item_id}", responses=error_responses(404))
def remove_list_item(list_id: ListId, item_id: ListedId, library: WriteLibrary) -> Changed:
    """Remove an item from a list; it stays in the library."""
    return to_json(Changed, lists.remove_items(library, list_id, [item_id]))


save_rules_router = APIRouter(prefix="/api/v1", tags=["save rules"], route_class=TaggedRoute)
RuleId = Annotated[str, Path(max_length=200, description="The save rule's ID or name.")]


class Actions(RequestBody):
    """What a save rule does with a new page."""

    tags: list[Tag] = Field([], max_length=20)
    archive: bool = False
    pin: bool = False
    keep_pictures: Literal["all", "hero", "none"] | None = Field(None, description="In place of the setting.")
    lists: list[ItemKey] = Field([], max_length=20, description="IDs or names of lists that you fill yourself.")

    def value(self) -> model.SaveActions:
        """Return the actions."""
        return model.SaveActions(tuple(self.tags), self.archive, self.pin, self.keep_pictures, tuple(self.lists))


class NewRule(RequestBody):
    """A save rule to add."""

    name: Name | None = None
    query: SearchText = Field(examples=["domain:example.com"], description="The condition, as you write a search.")
    actions: Actions


class TriedRule(RequestBody):
    """A save rule to try."""

    query: SearchText
    actions: Actions


class RuleChanges(RequestBody):
    """Changes to a save rule; what is left out stays."""

    name: Name | None = None
    query: SearchText | None = None
    actions: Actions | None = None
    enabled: bool | None = None
    move: Literal["up", "down"] | None = Field(None, description="In the order in which rules apply.")


OneSaveRule = TypedDict("OneSaveRule", {"rule": SaveRule})
SaveRules = TypedDict("SaveRules", {"rules": list[SaveRule]})


@save_rules_router.get("/save-rules", responses=error_responses())
def show_save_rules(library: ReadLibrary) -> SaveRules:
    """Return the save rules in the order in which they apply."""
    return {"rules": [to_json(SaveRule, rule) for rule in library.save_rules.list()]}


@save_rules_router.post("/save-rules", status_code=201, responses=error_responses(404, 409))
def add_save_rule(body: NewRule, library: WriteLibrary) -> OneSaveRule:
    """Add a save rule, switched off: try it first, then switch it on with `enabled`."""
    return {"rule": to_json(SaveRule, save_rules.add_rule(library, body.name or "", body.query, body.actions.value()))}


@save_rules_router.post("/save-rules/try", responses=error_responses(404))
def try_save_rule(body: TriedRule, library: ReadLibrary) -> TrialShape:
    """Return what a save rule would do with the pages that are in the library; nothing is changed."""
    return to_json(TrialShape, save_rules.try_rule(library, body.query, body.actions.value()))


@save_rules_router.patch("/save-rules/{rule_id}", responses=error_responses(404))
def change_save_rule(rule_id: RuleId, body: RuleChanges, library: WriteLibrary) -> OneSaveRule:
    """Change a save rule, switch it on or off, or move it."""
    rule = save_rules.change_rule(
        library,
        rule_id,
        name=body.name,
        query=body.query,
        actions=body.actions.value() if body.actions else None,
        enabled=body.enabled,
    )
    if body.move:
        save_rules.move_rule(library, rule.id, -1 if body.move == "up" else 1)
    return {"rule": to_json(SaveRule, rule)}


@save_rules_router.delete("/save-rules/{rule_id}", status_code=204, responses=error_responses(404))
def remove_save_rule(rule_id: RuleId, library: WriteLibrary) -> None:
    """Delete a save rule; what it changed stays."""
    save_rules.remove_rule(library, rule_id)


@save_rules_router.post("/save-rules/{rule_id}/apply", responses=error_responses(404))
def apply_save_rule(rule_id: RuleId, library: WriteLibrary, service: CurrentService) -> Changed:
    """Do what a save rule does to the pages that are in the library, so that it can be undone; many are a job."""
    done = save_rules.apply_rule(library, rule_id)
    if done.job:
        service.background.nudge()
    return to_json(Changed, done)
