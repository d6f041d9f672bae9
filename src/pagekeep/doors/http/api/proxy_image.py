"""`GET /api/proxy-image`: an image of a saved page, from the library, or fetched by the server."""

from __future__ import annotations

from asyncio import to_thread
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from pagekeep.capture.pictures.check import SVG_TYPE
from pagekeep.doors.http.caller import ReadCaller, ReadLibrary
from pagekeep.doors.http.errors import FETCH_STATUSES, error_responses
from pagekeep.doors.http.image_proxy.signing import PATH, is_signed, signature
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import InvalidUrl, NotAllowed
from pagekeep.library.pictures.kept import find_picture

router = APIRouter(tags=["images"])

_HEADERS: Final = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
}
"""An image opened as a page cannot run anything."""
_DRAWING_HEADERS: Final = {"Content-Disposition": "attachment"}
"""A drawing (SVG) is shown within a page only; opened, it is downloaded, so that nothing in it runs on our origin."""


@router.get(
    PATH, response_class=Response, responses={200: {"content": {"image/*": {}}}, **error_responses(*FETCH_STATUSES)}
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
