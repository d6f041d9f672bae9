"""`/api/v1/items`: the library's items."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from pagekeep.app.shape import items_shape
from pagekeep.doors.http.caller import Reads
from pagekeep.model import ItemFilter, Level

router = APIRouter(tags=["items"])


@router.get("/items")
def list_items(
    library: Reads,
    domain: str | None = None,
    tag: Annotated[list[str] | None, Query()] = None,
    quality: Level | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: str | None = None,
) -> dict[str, Any]:
    """A page of the inbox, newest first."""
    wanted = ItemFilter(domain=domain, tags=tuple(tag or ()), quality=quality)
    page = library.list_items(wanted, limit=limit, after=after)
    return items_shape(page.items, page.next)
