"""`/api/v1/tags`, `/sites`, `/authors`, `/languages` and `/statistics`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query
from typing_extensions import TypedDict

from pagekeep.doors.http.caller import ReadLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import TaggedRoute
from pagekeep.library.browse.counts import BrowsedKind, list_counts
from pagekeep.library.browse.statistics import read_statistics
from pagekeep.library.open import Store

router = APIRouter(prefix="/api/v1", tags=["browse"], route_class=TaggedRoute)

Text = Annotated[str, Query(max_length=200, description="Part of the name")]
Number = Annotated[int, Query(ge=1, le=10_000)]
Size = Annotated[int, Query(ge=1, le=200)]


class Count(TypedDict):
    """How many items have a tag, are from a site..."""

    name: str
    count: int


class Counts(TypedDict):
    """One page of counts."""

    counts: list[Count]
    total: int


class MonthShape(TypedDict):
    month: str
    saved: int
    read: int
    minutes_saved: int
    minutes_read: int


class StatisticsShape(TypedDict):
    months: list[MonthShape]
    sites: list[Count]
    languages: list[Count]
    saved: int
    read: int
    reading: int
    unread: int
    minutes_saved: int
    minutes_read: int


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
    found = asdict(read_statistics(library))
    shape: Any = {**found, "sites": _counts(found["sites"]), "languages": _counts(found["languages"])}
    return cast("StatisticsShape", shape | {"months": list(found["months"])})


def _page(library: Store, kind: BrowsedKind, q: str, sort: str, page: int, limit: int) -> Counts:
    found = list_counts(library, kind, text=q, by_name=sort == "name", page=page, size=limit)
    return {"counts": [{"name": one.name, "count": one.count} for one in found.counts], "total": found.total}


def _counts(counts: Any) -> list[Count]:
    return [{"name": one["name"], "count": one["count"]} for one in counts]
