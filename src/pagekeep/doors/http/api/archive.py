"""`/api/v1/copies`, `/pictures` and `/storage`, and `/api/proxy-image`: what is kept beside the text of pages."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from typing_extensions import TypedDict

from pagekeep.capture.pictures import SVG_TYPE
from pagekeep.doors.http.api.response_models import OneJob
from pagekeep.doors.http.caller import ReadCaller, ReadLibrary, WriteLibrary
from pagekeep.doors.http.errors import FETCH_STATUSES, error_responses
from pagekeep.doors.http.image_proxy import IMAGE_PATH, is_signed, signature
from pagekeep.doors.http.responses import copy_response
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import InvalidUrl, NotAllowed, TooLarge
from pagekeep.library.archive.copies import list_copies, missing_parts, read_copy, request_copies
from pagekeep.library.archive.keep_pictures import MAX_PICTURE_BYTES, keep_uploaded, request_pictures
from pagekeep.library.archive.pictures import find_picture, show_picture, show_pictures, wanted_sources
from pagekeep.library.items.find import get_item, get_item_and_raw
from pagekeep.library.open import remove_unused
from pagekeep.model.archive import CopyKind
from pagekeep.present.archive_shapes import StorageUse
from pagekeep.present.json_shapes import Job, Picture, to_json

router = APIRouter(prefix="/api/v1", tags=["archive"])
_ItemId = Annotated[str, Path(max_length=100, description="The item's ID or the beginning of it.")]


class Copy(TypedDict):
    kind: CopyKind
    bytes: int
    made_at: str
    url: str
    """Path of the file on this server."""


MissingPart = TypedDict("MissingPart", {"url": str, "reason": str | None, "bytes": int | None})


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
    return {"job": to_json(Job, job)}


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


_ItemQuery = Annotated[str, Query(max_length=100, description="The item's ID or the beginning of it.")]
_FILE: Final = {"required": True, "content": {"image/*": {"schema": {"type": "string", "format": "binary"}}}}

Pictures = TypedDict("Pictures", {"pictures": list[Picture]})
OnePicture = TypedDict("OnePicture", {"picture": Picture})


@router.get("/pictures", responses=error_responses(404))
def list_pictures(item: _ItemQuery, library: ReadLibrary, service: CurrentService) -> Pictures:
    """List the pictures of an item in the order of the page: kept, left out and why, or not downloaded yet."""
    found = get_item(library, item)
    return {"pictures": show_pictures(library, found, wanted_sources(found, service.settings))}


@router.post("/pictures", responses=error_responses(404, 413), openapi_extra={"requestBody": _FILE})
async def upload_picture(
    request: Request,
    item: _ItemQuery,
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
async def fetch_pictures(item: _ItemQuery, library: WriteLibrary, service: CurrentService) -> OneJob | Response:
    """Download the pictures of an item that are not kept, in the background."""
    found = await to_thread(get_item, library, item)
    job = await to_thread(request_pictures, library, found, service.settings)
    if job is None:
        return Response(status_code=204)
    service.background.nudge()
    return {"job": to_json(Job, job)}


OneStorage = TypedDict("OneStorage", {"storage": StorageUse})


class Removed(TypedDict):
    removed: int
    """Files."""
    bytes: int


@router.get("/storage", responses=error_responses())
def read_storage(library: ReadLibrary) -> OneStorage:
    """Return what pages, pictures and other kept files take, and which sites take most."""
    return {"storage": to_json(StorageUse, library.blobs.storage())}


@router.post("/storage/clean", responses=error_responses())
def clean_storage(library: WriteLibrary) -> Removed:
    """Remove the kept files that no item uses now, instead of after a week."""
    done = remove_unused(library, at_once=True)
    return {"removed": done.count, "bytes": done.bytes}


image_router = APIRouter(tags=["images"])

_HEADERS: Final = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
}
"""An image opened as a page cannot run anything."""
_DRAWING_HEADERS: Final = {"Content-Disposition": "attachment"}
"""A drawing (SVG) is shown within a page only; opened, it is downloaded, so that nothing in it runs on our origin."""


@image_router.get(
    IMAGE_PATH,
    response_class=Response,
    responses={200: {"content": {"image/*": {}}}, **error_responses(*FETCH_STATUSES)},
)
async def proxy_image(
    request: Request,
    service: CurrentService,
    caller: ReadCaller,
    library: ReadLibrary,
    url: Annotated[str, Query(max_length=8_000)],
    sig: Annotated[str, Query(max_length=64)],
    small: Annotated[bool, Query(description="The thumbnail for lists, if there is one.")] = False,
) -> Response:
    """Return an image of a saved page: the kept copy, or else from its site, if it is in a format that browsers show.

    Only URLs signed by this server are accepted.
    """
    if not is_signed(service.secret, caller.user_id, url, sig):
        raise NotAllowed("The image URL was not signed by this server.", suggestions=("Reload the page.",))
    key = signature(service.secret, caller.user_id, url)
    kept = await to_thread(find_picture, library, url, small=small)
    etag = f'"{key[:32]}{"-small" if small else ""}{"-kept" if kept else ""}"'
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers={**_HEADERS, "ETag": etag})
    if kept is not None:
        headers = {**_HEADERS, "ETag": etag, **(_DRAWING_HEADERS if kept.media_type == SVG_TYPE else {})}
        return Response(kept.data, media_type=kept.media_type, headers=headers)
    try:
        image = await service.images.get(key, url)
    except InvalidUrl:  # its message repeats the URL, which comes from a page
        raise InvalidUrl("The image URL is invalid.", suggestions=()) from None
    return Response(image.data, media_type=image.media_type, headers={**_HEADERS, "ETag": etag})
