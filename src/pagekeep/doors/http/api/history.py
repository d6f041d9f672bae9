"""`/api/v1/items/{item}/versions`, `/diff`, `/watch` and `/check`, `/api/v1/watches` and `/changes`: pages over time."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from pagekeep.doors.http.api.items import ItemId
from pagekeep.doors.http.api.request_models import SeenRequest, VersionChanges, WatchRequest
from pagekeep.doors.http.api.response_models import (
    Changes,
    OneDiff,
    OneItem,
    OneLinkCheck,
    OneVersion,
    OneWatch,
    OneWholeVersion,
    Seen,
    Versions,
    Watches,
)
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import FETCH_STATUSES, error_responses
from pagekeep.doors.http.responses import TaggedRoute
from pagekeep.doors.http.service import CurrentService
from pagekeep.library import watch
from pagekeep.library.archive import dead_links, versions
from pagekeep.library.items.find import get_item
from pagekeep.library.queue import format_interval, parse_interval
from pagekeep.present.history_shapes import (
    Version,
    Watch,
    WholeVersion,
    change_shape,
    diff_shape,
    link_shape,
    watch_shape,
)
from pagekeep.present.json_shapes import Item, to_json

router = APIRouter(prefix="/api/v1", tags=["history"], route_class=TaggedRoute)
Number = Annotated[int, Path(ge=1, le=1_000_000_000, description="The version's number.")]
VersionNumber = Annotated[int | None, Query(ge=1, le=1_000_000_000)]


@router.get("/items/{item_id}/versions", responses=error_responses(404))
def list_versions(item_id: ItemId, library: ReadLibrary) -> Versions:
    """List the versions of an item, oldest first; none if raw pages are not kept."""
    found = versions.get_history(library, item_id)
    return {"versions": [to_json(Version, version) for version in found.versions], "checked_at": found.checked_at}


@router.get("/items/{item_id}/versions/{version}", responses=error_responses(404))
async def read_version(
    item_id: ItemId,
    version: Annotated[
        str, Path(pattern=r"^(\d{1,9}|\d{4}-\d{2}-\d{2}(T[\d:.]+Z?)?)$", description="Its number, or a date or time.")
    ],
    library: ReadLibrary,
    service: CurrentService,
) -> OneWholeVersion:
    """Return a version with its text, by its number or the one of a date; the current parser reads it."""
    number, at = (int(version), None) if version.isdigit() else (None, version)
    found = await versions.read_version(library, item_id, service.retrieval, number=number, at=at)
    item = found.text.item
    return {"version": to_json(WholeVersion, found.snapshot, title=item.title, content=item.content)}


@router.patch("/items/{item_id}/versions/{number}", responses=error_responses(404))
def change_version(item_id: ItemId, number: Number, body: VersionChanges, library: WriteLibrary) -> OneVersion:
    """Pin a version, so that it stays whatever the limits are, or unpin it."""
    return {"version": to_json(Version, versions.pin_version(library, item_id, number, pinned=body.pinned))}


@router.post("/items/{item_id}/versions/{number}/restore", responses=error_responses(404, 409))
async def restore_version(item_id: ItemId, number: Number, library: WriteLibrary, service: CurrentService) -> OneItem:
    """Make an earlier version the current one again, as a new version."""
    return {"item": to_json(Item, await versions.restore_version(library, item_id, service.retrieval, number))}


@router.get("/items/{item_id}/diff", responses=error_responses(404))
async def compare_versions(
    item_id: ItemId,
    library: ReadLibrary,
    service: CurrentService,
    before: VersionNumber = None,
    after: VersionNumber = None,
    everything: Annotated[
        bool, Query(description="Of a watched page, also what changes on every visit, such as counters.")
    ] = False,
) -> OneDiff:
    """Compare two versions word by word: by default the last two, with `before` that one and the current one."""
    found = await versions.compare_versions(library, item_id, service.retrieval, before, after, everything=everything)
    return {"diff": diff_shape(found.before, found.after, found.diff, found.lost)}


@router.put("/items/{item_id}/watch", responses=error_responses(404))
def watch_item(item_id: ItemId, body: WatchRequest, library: WriteLibrary, service: CurrentService) -> OneWatch:
    """Watch a page for changes; one that is watched already gets the new interval."""
    made = watch.watch(library, item_id, parse_interval(body.every))
    service.background.nudge()
    return {"watch": _shape(made)}


@router.delete("/items/{item_id}/watch", status_code=204, responses=error_responses(404))
def unwatch_item(item_id: ItemId, library: WriteLibrary) -> Response:
    """Watch a page no longer."""
    watch.unwatch(library, item_id)
    return Response(status_code=204)


@router.get("/watches", responses=error_responses())
def list_watches(library: ReadLibrary) -> Watches:
    """List the watched pages, the next to be visited first."""
    return {"watches": [_shape(one) for one in watch.watched_pages(library)]}


def _shape(watched: watch.Watched) -> Watch:
    return watch_shape(watched.item, watched.schedule, format_interval(watched.schedule.every))


@router.get("/changes", responses=error_responses())
def list_changes(
    library: ReadLibrary, unseen: bool = False, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> Changes:
    """List changes of watched pages, newest first."""
    found = watch.list_changes(library, unseen=unseen, limit=limit)
    return {"changes": [change_shape(change, item) for change, item in found]}


@router.post("/changes/seen", responses=error_responses())
def mark_changes_seen(body: SeenRequest, library: WriteLibrary) -> Seen:
    """Mark changes as seen."""
    return {"seen": watch.mark_seen(library, None if body.ids is None else tuple(body.ids))}


@router.post("/items/{item_id}/check", responses=error_responses(404, *FETCH_STATUSES))
async def check_link(item_id: ItemId, library: WriteLibrary, service: CurrentService) -> OneLinkCheck:
    """Check now whether the page is still on the web."""
    item = await to_thread(get_item, library, item_id)
    found = await dead_links.check_one(item, library, service.retrieval)
    return {"check": link_shape(found.item, found.state, found.reason)}
