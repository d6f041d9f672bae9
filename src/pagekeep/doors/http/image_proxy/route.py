"""`GET /api/proxy-image`: a picture of a saved page."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from pagekeep.doors.http.api.models import FETCHING, failures
from pagekeep.doors.http.caller import Caller, may_read
from pagekeep.doors.http.image_proxy.signing import PATH, is_ours, signature, signed_path
from pagekeep.doors.http.service import Service, service_of
from pagekeep.errors import NotAllowed

router = APIRouter(tags=["images"])

_HEADERS: Final = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
}
"""Whoever opens it as a page finds nothing in it that could run."""


def signed(service: Service, caller: Caller, url: str) -> str:
    """Where the caller's browser gets this picture from: for templates."""
    return signed_path(service.secret, caller.user_id, url)


@router.get(PATH, response_class=Response, responses={200: {"content": {"image/*": {}}}, **failures(*FETCHING)})
async def proxy_image(
    request: Request,
    service: Annotated[Service, Depends(service_of)],
    caller: Annotated[Caller, Depends(may_read)],
    url: Annotated[str, Query(max_length=8_000)],
    sig: Annotated[str, Query(max_length=64)],
) -> Response:
    """A picture of a page in the library, of a kind that browsers show, and nothing else.

    Addresses are those found in what this server shows; others are refused.
    """
    if not is_ours(service.secret, caller.user_id, url, sig):
        raise NotAllowed("The address of the picture is not from this server.", suggestions=("Reload the page.",))
    key = signature(service.secret, caller.user_id, url)
    etag = f'"{key[:32]}"'
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers={**_HEADERS, "ETag": etag})
    picture = await service.pictures.get(key, url)
    return Response(picture.data, media_type=picture.kind, headers={**_HEADERS, "ETag": etag})
