"""`/api/v1/lists`: saved searches, and lists that the user fills."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from pagekeep.doors.http.api.items import PageKey
from pagekeep.doors.http.api.request_models import ItemKey, RequestBody
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import Json, TaggedRoute
from pagekeep.library.lists import lists
from pagekeep.present.json_shapes import Items, items_shape
from pagekeep.present.lists.list_shapes import Changed, ItemList, changed_shape, list_shape

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


class OneList(TypedDict):
    list: ItemList


class Lists(TypedDict):
    lists: list[ItemList]


@router.get("/lists", responses=error_responses())
def show_lists(library: ReadLibrary) -> Lists:
    """Return all lists by name."""
    counts = lists.count_lists(library)
    return {"lists": [list_shape(one, counts.get(one.id)) for one in lists.list_lists(library)]}


@router.post("/lists", status_code=201, responses=error_responses(409))
def add_list(body: NewList, library: WriteLibrary) -> OneList:
    """Add a list: a saved search with `query`, otherwise an empty one to fill."""
    return {"list": list_shape(lists.add_list(library, body.name, body.query))}


@router.get("/lists/{list_id}", responses=error_responses(404))
def show_list(list_id: ListId, library: ReadLibrary) -> OneList:
    """Return a list without its items."""
    found = lists.get_list(library, list_id)
    return {"list": list_shape(found, lists.count_lists(library).get(found.id))}


@router.patch("/lists/{list_id}", responses=error_responses(404, 409))
def change_list(list_id: ListId, body: ListChanges, library: WriteLibrary) -> OneList:
    """Rename a list, or change what a saved search finds."""
    return {"list": list_shape(lists.change_list(library, list_id, name=body.name, query=body.query))}


@router.delete("/lists/{list_id}", status_code=204, responses=error_responses(404))
def remove_list(list_id: ListId, library: WriteLibrary) -> None:
    """Delete a list; its items stay in the library."""
    lists.remove_list(library, list_id)


@router.get("/lists/{list_id}/items", response_model=Items, responses=error_responses(404))
def show_list_items(
    list_id: ListId, library: ReadLibrary, limit: Annotated[int, Query(ge=1, le=200)] = 50, after: PageKey = None
) -> Json:
    """Return the items of a list: in the user's order, or as its search finds them."""
    page = lists.list_page(library, lists.get_list(library, list_id), limit=limit, after=after)
    return Json(items_shape(page.items, page.next))


@router.post("/lists/{list_id}/items", responses=error_responses(404))
def add_list_items(list_id: ListId, body: ListedItems, library: WriteLibrary) -> Changed:
    """Add items at the end of a list, in this order; those that are in it stay where they are."""
    return changed_shape(lists.add_items(library, list_id, body.ids))


@router.put("/lists/{list_id}/items/{item_id}", status_code=204, responses=error_responses(404))
def move_list_item(list_id: ListId, item_id: ListedId, body: NewPlace, library: WriteLibrary) -> None:
    """Move an item of a list before another one, or to the end."""
    lists.move_item(library, list_id, item_id, before=body.before)


@router.delete("/lists/{list_id}/items/{item_id}", responses=error_responses(404))
def remove_list_item(list_id: ListId, item_id: ListedId, library: WriteLibrary) -> Changed:
    """Remove an item from a list; it stays in the library."""
    return changed_shape(lists.remove_items(library, list_id, [item_id]))
