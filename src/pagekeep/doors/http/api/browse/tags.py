"""`/api/v1/tags/rename`, `/delete` and `/undo`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from pagekeep.doors.http.caller import WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import TaggedRoute
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.library.browse import tags
from pagekeep.model.lists.values import Done

router = APIRouter(prefix="/api/v1", tags=["browse"], route_class=TaggedRoute)
Tag = Annotated[str, Field(min_length=1, max_length=1_000)]


class TagChange(TypedDict):
    """A change of a tag on all its items."""

    action: str
    """The id to undo it with."""
    changed: int
    """Items that were changed so far."""
    job: str | None
    """The job that changes the others, when there are many."""


class TagsUndone(TypedDict):
    """How many items are as before."""

    undone: int
    job: str | None
    """The job that undoes the others, when there are many."""


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
def rename_tag_everywhere(body: Rename, library: WriteLibrary, service: CurrentService) -> TagChange:
    """Rename a tag on all items; with the name of another tag, both become one. More than 2,000 items are changed by a job."""
    return _change(tags.rename_tag(library, body.tag, body.new), service)


@router.post("/tags/delete", responses=error_responses(404))
def delete_tag_everywhere(body: TagName, library: WriteLibrary, service: CurrentService) -> TagChange:
    """Remove a tag from all items. More than 2,000 items are changed by a job."""
    return _change(tags.delete_tag(library, body.tag), service)


@router.post("/tags/undo", responses=error_responses(404))
def undo_tag_change(body: TagAction, library: WriteLibrary, service: CurrentService) -> TagsUndone:
    """Undo a change of a tag. Items that were changed again since stay as they are."""
    result, job = tags.undo_tags(library, body.action)
    if job:
        service.background.nudge()
    return {"undone": result.undone, "job": job.id if job else None}


def _change(done: Done, service: Service) -> TagChange:
    if done.job:
        service.background.nudge()
    return {"action": done.action.id, "changed": done.action.changed, "job": done.job.id if done.job else None}
