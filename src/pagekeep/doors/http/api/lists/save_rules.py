"""`/api/v1/save-rules`: what happens to new pages that a search finds."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import Field
from typing_extensions import TypedDict

from pagekeep.doors.http.api.lists.lists import Name, SearchText
from pagekeep.doors.http.api.request_models import ItemKey, RequestBody, Tag
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import TaggedRoute
from pagekeep.doors.http.service import CurrentService
from pagekeep.library.lists import save_rules
from pagekeep.model.lists import values as model
from pagekeep.present.lists.list_shapes import Changed, SaveRule, TrialShape, changed_shape, rule_shape, trial_shape

router = APIRouter(prefix="/api/v1", tags=["save rules"], route_class=TaggedRoute)
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


class OneSaveRule(TypedDict):
    rule: SaveRule


class SaveRules(TypedDict):
    rules: list[SaveRule]


@router.get("/save-rules", responses=error_responses())
def show_save_rules(library: ReadLibrary) -> SaveRules:
    """Return the save rules in the order in which they apply."""
    return {"rules": [rule_shape(rule) for rule in save_rules.list_rules(library)]}


@router.post("/save-rules", status_code=201, responses=error_responses(404, 409))
def add_save_rule(body: NewRule, library: WriteLibrary) -> OneSaveRule:
    """Add a save rule, switched off: try it first, then switch it on with `enabled`."""
    return {"rule": rule_shape(save_rules.add_rule(library, body.name or "", body.query, body.actions.value()))}


@router.post("/save-rules/try", responses=error_responses(404))
def try_save_rule(body: TriedRule, library: ReadLibrary) -> TrialShape:
    """Return what a save rule would do with the pages that are in the library; nothing is changed."""
    return trial_shape(save_rules.try_rule(library, body.query, body.actions.value()))


@router.patch("/save-rules/{rule_id}", responses=error_responses(404))
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
    return {"rule": rule_shape(rule)}


@router.delete("/save-rules/{rule_id}", status_code=204, responses=error_responses(404))
def remove_save_rule(rule_id: RuleId, library: WriteLibrary) -> None:
    """Delete a save rule; what it changed stays."""
    save_rules.remove_rule(library, rule_id)


@router.post("/save-rules/{rule_id}/apply", responses=error_responses(404))
def apply_save_rule(rule_id: RuleId, library: WriteLibrary, service: CurrentService) -> Changed:
    """Do what a save rule does to the pages that are in the library, so that it can be undone; many are a job."""
    done = save_rules.apply_rule(library, rule_id)
    if done.job:
        service.background.nudge()
    return changed_shape(done)
