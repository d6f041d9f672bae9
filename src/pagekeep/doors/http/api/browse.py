"""`/api/v1/search` and `/stats`, `/tags`, `/sites`, `/authors`, `/languages` and `/statistics`: find and count items."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from pagekeep.doors.http.api.response_models import Stats
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import Json, TaggedRoute
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.library.feeds import inbox
from pagekeep.library.items import tags
from pagekeep.library.items.browse import BrowsedKind, Month, Statistics, list_counts, read_statistics
from pagekeep.library.open import Store
from pagekeep.model.library import ItemCount
from pagekeep.model.lists import Done
from pagekeep.present.json_shapes import Hits, TypedDict, hit_shape, same_as, to_json

search_router = APIRouter(prefix="/api/v1", tags=["search"], route_class=TaggedRoute)


@search_router.get("/search", response_model=Hits, responses=error_responses())
def search_items(
    library: ReadLibrary,
    q: Annotated[str, Query(max_length=1000, examples=['lighthouse "harbour wall" -storm tag:history'])],
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    after: Annotated[str | None, Query(max_length=10_000)] = None,
) -> Json:
    """Search items, best match first. Also: is:pinned, domain:, tag:, quality:, before:, after:, "a phrase", -excluded."""
    page = inbox.search_items(library, q, limit=limit, after=after)
    hits: Hits = {"items": [hit_shape(hit) for hit in page.hits], "next": page.next}
    return Json(hits)  # not checked against the model at every request, as in `list_items`


@search_router.get("/stats", responses=error_responses())
def count_items(library: ReadLibrary) -> Stats:
    """Return counts of the library's items."""
    return {"stats": dict(library.counts.totals())}


router = APIRouter(prefix="/api/v1", tags=["browse"], route_class=TaggedRoute)

Text = Annotated[str, Query(max_length=200, description="Part of the name")]
Number = Annotated[int, Query(ge=1, le=10_000)]
Size = Annotated[int, Query(ge=1, le=200)]


@same_as(ItemCount, omit="key")
class Count(TypedDict):
    """How many items have a tag, are from a site..."""


class Counts(TypedDict):
    """One page of counts."""

    counts: list[Count]
    total: int


@same_as(Month)
class MonthShape(TypedDict):
    pass


@same_as(Statistics)
class StatisticsShape(TypedDict):
    months: list[MonthShape]
    sites: list[Count]
    languages: list[Count]


@router.get("/tags", responses=error_responses())
def list_tags(library: ReadLibrary, q: Text = "", sort: str = "count", page: Number = 1, limit: Size = 100) -> Counts:
    """Return the tags with how many items have each; `sort=name` by name."""
    return _page(library, "tag", q, sort, page, limit)


@router.get("/sites", responses=error_responses())
def list_sites(library: ReadLibrary, q: Text = "", sort: str = "count", page: Number = 1, limit: Size = 100) -> Counts:
    """Return the sites with how many items are from each."""
    return _page(library, "site", q, sort, page, limit)


@router.get("/authors", responses=error_responses())
def list_authors(
    library: ReadLibrary, q: Text = "", sort: str = "count", page: Number = 1, limit: Size = 100
) -> Counts:
    """Return the authors with how many items each has."""
    return _page(library, "author", q, sort, page, limit)


@router.get("/languages", responses=error_responses())
def list_languages(
    library: ReadLibrary, q: Text = "", sort: str = "count", page: Number = 1, limit: Size = 100
) -> Counts:
    """Return the languages with how many items are in each."""
    return _page(library, "language", q, sort, page, limit)


@router.get("/statistics", responses=error_responses())
def show_statistics(library: ReadLibrary) -> StatisticsShape:
    """Return what was saved and read, by month, site and language."""
    return to_json(StatisticsShape, read_statistics(library))


def _page(library: Store, kind: BrowsedKind, q: str, sort: str, page: int, limit: int) -> Counts:
    found = list_counts(library, kind, text=q, by_name=sort == "name", page=page, size=limit)
    return {"counts": [to_json(Count, one) for one in found.counts], "total": found.total}


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
