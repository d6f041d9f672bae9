"""`GET /api/proxy-image`: an image of a saved page, fetched by the server."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from pagekeep.doors.http.caller import ReadCaller
from pagekeep.doors.http.errors import FETCH_STATUSES, error_responses
from pagekeep.doors.http.image_proxy.signing import PATH, is_signed, signature
from pagekeep.doors.http.service import CurrentService
from pagekeep.errors import InvalidUrl, NotAllowed

router = APIRouter(tags=["images"])

_HEADERS: Final = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
}
"""An image opened as a page cannot run anything."""


@router.get(
    PATH, response_class=Response, responses={200: {"content": {"image/*": {}}}, **error_responses(*FETCH_STATUSES)}
)
async def proxy_image(
    request: Request,
    service: CurrentService,
    caller: ReadCaller,
    url: Annotated[str, Query(max_length=8_000)],
    sig: Annotated[str, Query(max_length=64)],
) -> Response:
    """Return an image of a saved page, if it is in a format that browsers show.

    Only URLs signed by this server are accepted.
    """
    if not is_signed(service.secret, caller.user_id, url, sig):
        raise NotAllowed("The image URL was not signed by this server.", suggestions=("Reload the page.",))
    key = signature(service.secret, caller.user_id, url)
    etag = f'"{key[:32]}"'
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers={**_HEADERS, "ETag": etag})
    try:
        image = await service.images.get(key, url)
    except InvalidUrl:  # its message repeats the URL, which comes from a page
        raise InvalidUrl("The image URL is invalid.", suggestions=()) from None
    return Response(image.data, media_type=image.media_type, headers={**_HEADERS, "ETag": etag})
