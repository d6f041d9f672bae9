"""`/api/v1/items/{id}/copies`: copies of whole pages."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from typing_extensions import TypedDict

from pagekeep.doors.http.api.response_models import OneJob
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import copy_response
from pagekeep.doors.http.service import CurrentService
from pagekeep.library.copies.job import request_copies
from pagekeep.library.copies.make import list_copies, missing_parts, read_copy
from pagekeep.library.items import get_item, get_item_and_raw
from pagekeep.model.archive import CopyKind
from pagekeep.present.json_shapes import job_shape

router = APIRouter(prefix="/api/v1", tags=["archive"])
_ItemId = Annotated[str, Path(max_length=100, description="The item's ID or the beginning of it.")]


class Copy(TypedDict):
    kind: CopyKind
    bytes: int
    made_at: str
    url: str
    """Path of the file on this server."""


class MissingPart(TypedDict):
    url: str
    reason: str | None
    bytes: int | None


class Copies(TypedDict):
    copies: list[Copy]
    missing: list[MissingPart]
    """What the HTML copy lacks."""


@router.get("/items/{item_id}/copies", responses=error_responses(404))
def list_item_copies(item_id: _ItemId, library: ReadLibrary) -> Copies:
    """List the copies of the whole page that are kept with an item, and what is missing in the HTML copy."""
    item = get_item(library, item_id)
    copies: list[Copy] = [
        {
            "kind": kind,
            "bytes": link.size or 0,
            "made_at": link.created_at,
            "url": f"/api/v1/items/{item.id}/copies/{kind}",
        }
        for kind, link in list_copies(library, item.id).items()
    ]
    missing: list[MissingPart] = [
        {"url": link.source, "reason": link.reason, "bytes": link.size} for link in missing_parts(library, item.id)
    ]
    return {"copies": copies, "missing": missing}


@router.post("/items/{item_id}/copies", status_code=202, responses=error_responses(404))
async def make_item_copies(
    item_id: _ItemId,
    library: WriteLibrary,
    service: CurrentService,
    kind: Annotated[list[CopyKind], Query(max_length=3, description="Kind of copy; can be repeated.")],
) -> OneJob:
    """Make copies of the page as it was saved, in the background, in place of earlier ones of the same kinds."""
    item, _ = await to_thread(get_item_and_raw, library, item_id)
    job = await to_thread(request_copies, library, item, kind)
    service.background.nudge()
    return {"job": job_shape(job)}


_FILES: Final[dict[str, Any]] = {
    kind: {"schema": {"type": "string", "format": "binary"}} for kind in ("image/png", "application/pdf", "text/html")
}


@router.get(
    "/items/{item_id}/copies/{kind}",
    response_class=Response,
    responses={200: {"content": _FILES}, **error_responses(404)},
)
def read_item_copy(item_id: _ItemId, kind: CopyKind, library: ReadLibrary) -> Response:
    """Return a copy of the page, in a sandbox without an origin; a PDF as a download."""
    item = get_item(library, item_id)
    return copy_response(read_copy(library, item.id, kind), kind, item.id)
