"""`/api/v1/pictures`: pictures of items, kept and left out; pictures that a browser sends."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from typing_extensions import TypedDict

from pagekeep.doors.http.api.response_models import OneJob
from pagekeep.doors.http.caller import ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import TooLarge
from pagekeep.library.items import get_item
from pagekeep.library.pictures.job import request_pictures
from pagekeep.library.pictures.keep import MAX_PICTURE_BYTES, keep_uploaded
from pagekeep.library.pictures.kept import show_picture, show_pictures
from pagekeep.library.pictures.wanted import wanted_sources
from pagekeep.present.archive_shapes import Picture
from pagekeep.present.json_shapes import job_shape

router = APIRouter(prefix="/api/v1", tags=["archive"])
PATH: Final = "/api/v1/pictures"
"""Accepts a picture of up to 20 MB as its body."""
_ItemId = Annotated[str, Query(max_length=100, description="The item's ID or the beginning of it.")]
_FILE: Final = {"required": True, "content": {"image/*": {"schema": {"type": "string", "format": "binary"}}}}


class Pictures(TypedDict):
    pictures: list[Picture]


class OnePicture(TypedDict):
    picture: Picture


@router.get("/pictures", responses=error_responses(404))
def list_pictures(item: _ItemId, library: ReadLibrary, service: CurrentService) -> Pictures:
    """List the pictures of an item in the order of the page: kept, left out and why, or not downloaded yet."""
    found = get_item(library, item)
    return {"pictures": show_pictures(library, found, wanted_sources(found, service.settings))}


@router.post("/pictures", responses=error_responses(404, 413), openapi_extra={"requestBody": _FILE})
async def upload_picture(
    request: Request,
    item: _ItemId,
    url: Annotated[str, Query(max_length=8_000, description="The address of the picture in the item.")],
    library: WriteLibrary,
    service: CurrentService,
) -> OnePicture:
    """Keep the picture in the body of the request, as a browser has it, for example behind a login.

    The item must show a picture with this address. A picture that is kept already stays as it is.
    """
    found = await to_thread(get_item, library, item)
    data = await request.body()
    if len(data) > MAX_PICTURE_BYTES:
        raise TooLarge(f"The picture is larger than {MAX_PICTURE_BYTES // 1_000_000} MB.", suggestions=())
    kept = await keep_uploaded(found, library, service.retrieval, url, data)
    return {"picture": show_picture(found, kept)}


@router.post(
    "/pictures/fetch",
    status_code=202,
    response_model=OneJob,
    responses={204: {"description": "All pictures are kept."}, **error_responses(404)},
)
async def fetch_pictures(item: _ItemId, library: WriteLibrary, service: CurrentService) -> OneJob | Response:
    """Download the pictures of an item that are not kept, in the background."""
    found = await to_thread(get_item, library, item)
    job = await to_thread(request_pictures, library, found, service.settings)
    if job is None:
        return Response(status_code=204)
    service.background.nudge()
    return {"job": job_shape(job)}
