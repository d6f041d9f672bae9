"""`/api/v1/tags/rename`, `/delete` and `/undo`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from pagekeep.doors.http.caller import WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import TaggedRoute
from pagekeep.library.browse import tags

router = APIRouter(prefix="/api/v1", tags=["browse"], route_class=TaggedRoute)
Tag = Annotated[str, Field(min_length=1, max_length=1_000)]


class TagChange(TypedDict):
    """A change of a tag on all its items."""

    action: str
    """The id to undo it with."""
    changed: int


class TagsUndone(TypedDict):
    """How many items are as before."""

    undone: int


class Rename(BaseModel):
    """A tag and its new name."""

    model_config = ConfigDict(extra="forbid")
    tag: Tag
    new: Tag


class TagName(BaseModel):
    """A tag."""

    model_config = ConfigDict(extra="forbid")
    tag: Tag


class TagAction(BaseModel):
    """A change of a tag."""

    model_config = ConfigDict(extra="forbid")
    action: Annotated[str, Field(max_length=100)]


@router.post("/tags/rename", responses=error_responses(404))
def rename_tag_everywhere(body: Rename, library: WriteLibrary) -> TagChange:
    """Rename a tag on all items; with the name of another tag, both become one."""
    done = tags.rename_tag(library, body.tag, body.new)
    return {"action": done.id, "changed": done.changed}


@router.post("/tags/delete", responses=error_responses(404))
def delete_tag_everywhere(body: TagName, library: WriteLibrary) -> TagChange:
    """Remove a tag from all items."""
    done = tags.delete_tag(library, body.tag)
    return {"action": done.id, "changed": done.changed}


@router.post("/tags/undo", responses=error_responses(404))
def undo_tag_change(body: TagAction, library: WriteLibrary) -> TagsUndone:
    """Undo a change of a tag. Items that were changed again since stay as they are."""
    return {"undone": tags.undo_tags(library, body.action)}
