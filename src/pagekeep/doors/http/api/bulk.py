"""`/api/v1/bulk` and `/api/v1/actions`: change many items, and undo it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field, model_validator
from typing_extensions import TypedDict

from pagekeep.doors.http.api.items import PageKey
from pagekeep.doors.http.api.lists import SearchText
from pagekeep.doors.http.api.request_models import ItemKey, RequestBody, Tags
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import TaggedRoute
from pagekeep.doors.http.service import CurrentService
from pagekeep.library.items import change as actions
from pagekeep.library.items import tags as suggestions
from pagekeep.library.items.lists import get_manual
from pagekeep.library.open import Store
from pagekeep.model.lists import ItemChange, change_from_json
from pagekeep.present.json_shapes import Item, to_json
from pagekeep.present.list_shapes import Action, Changed, Undone, undone_shape

router = APIRouter(prefix="/api/v1", tags=["changes of many items"], route_class=TaggedRoute)
ActionId = Annotated[str, Path(max_length=100)]
_ListKey = Annotated[list[ItemKey], Field(max_length=20)]


class BulkChange(RequestBody):
    """A change of many items: those with `ids`, or all that `query` finds."""

    ids: list[ItemKey] | None = Field(None, max_length=500)
    query: SearchText | None = Field(None, description="All items that this search finds; empty for the whole library.")
    pinned: bool | None = None
    archived: bool | None = None
    deleted: bool | None = None
    add_tags: Tags = Field([])
    remove_tags: Tags = Field([])
    refuse_tags: Tags = Field([], description="Suggested tags that are not to be suggested again.")
    add_to: _ListKey = Field([], description="IDs or names of lists that you fill yourself.")
    remove_from: _ListKey = Field([])
    reparse: bool = Field(False, description="Extract the stored pages again; not together with other changes.")

    @model_validator(mode="after")
    def _check(self) -> BulkChange:
        if (self.ids is None) == (self.query is None):
            raise ValueError("use either `ids` or `query`")
        changes = self.model_dump(exclude={"ids", "query", "reparse"}, exclude_defaults=True)
        if self.reparse == bool(changes):
            raise ValueError("use either `reparse` or other changes")
        return self

    def change(self, library: Store) -> ItemChange:
        """Return the change."""
        lists = {
            name: [get_manual(library, one).id for one in getattr(self, name)] for name in ("add_to", "remove_from")
        }
        return change_from_json(self.model_dump() | lists)


Actions = TypedDict("Actions", {"actions": list[Action]})
SuggestedTags = TypedDict("SuggestedTags", {"item": Item, "tags": list[str]})
Suggestions = TypedDict("Suggestions", {"suggestions": list[SuggestedTags], "next": str | None})


@router.post("/bulk", responses=error_responses(404))
def change_many_items(body: BulkChange, library: WriteLibrary, service: CurrentService) -> Changed:
    """Change many items so that it can be undone. More than 200 are changed by a job."""
    label = "Extracted again" if body.reparse else actions.describe(body.change(library))
    if body.reparse:
        done = (
            actions.reparse_selected(library, body.ids, label)
            if body.ids is not None
            else actions.reparse_found(library, body.query or "", label)
        )
    elif body.ids is not None:
        done = actions.change_selected(library, body.ids, body.change(library), label)
    else:
        done = actions.change_found(library, body.query or "", body.change(library), label)
    if done.job:
        service.background.nudge()
    return to_json(Changed, done)


@router.get("/actions", responses=error_responses())
def show_actions(library: ReadLibrary, limit: Annotated[int, Query(ge=1, le=50)] = 20) -> Actions:
    """Return the last changes that can be undone, newest first."""
    return {"actions": [to_json(Action, action) for action in library.actions.list(limit)]}


@router.post("/actions/{action_id}/undo", responses=error_responses(404))
def undo_action(action_id: ActionId, library: WriteLibrary, service: CurrentService) -> Undone:
    """Undo a change. What was changed again since stays as it is."""
    result, job = actions.undo_action(library, action_id)
    if job:
        service.background.nudge()
    return undone_shape(library.actions.get(action_id), result, job)


@router.get("/suggested-tags", responses=error_responses())
def show_suggested_tags(
    library: ReadLibrary, limit: Annotated[int, Query(ge=1, le=50)] = 20, after: PageKey = None
) -> Suggestions:
    """Return items with suggested tags, last saved first. To accept or refuse them, change the items."""
    page = suggestions.list_suggestions(library, limit=limit, after=after)
    rows: list[SuggestedTags] = [{"item": to_json(Item, row.item), "tags": list(row.tags)} for row in page.rows]
    return {"suggestions": rows, "next": page.next}
