"""`/screenshots`: pictures of pages for an hour, at addresses that nobody can guess.

Clients of reader and scraping services fetch them without a token, as they would from those services: whoever has the address
has the picture.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from asyncio import to_thread
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from pagekeep.doors.http.api.models import failures
from pagekeep.doors.http.api.page_requests import Here
from pagekeep.doors.http.service import SCREENSHOT_SECONDS, Service
from pagekeep.errors import NotFound

router = APIRouter(tags=["reader"])
_NAME: Final = re.compile(r"[0-9a-f]{32}\.png")
HEADERS: Final = {
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
}


async def address_of(picture: bytes, request: Request, service: Service) -> str:
    """Where the picture is for an hour from now."""
    name, until = f"{secrets.token_hex(16)}.png", int(time.time()) + SCREENSHOT_SECONDS
    await to_thread(service.screenshots.keep, name, picture)
    base = str(request.base_url).rstrip("/")
    return f"{base}/screenshots/{name}?until={until}&sig={_signature(service.secret, name, until)}"


def _signature(secret: bytes, name: str, until: int) -> str:
    return hmac.new(secret, f"screenshot\n{name}\n{until}".encode(), hashlib.sha256).hexdigest()


@router.get(
    "/screenshots/{name}", response_class=Response, responses={200: {"content": {"image/png": {}}}, **failures(404)}
)
def show_screenshot(
    service: Here,
    name: Annotated[str, Path(max_length=100)],
    until: Annotated[int, Query(ge=0, le=10**12)],
    sig: Annotated[str, Query(max_length=64)],
) -> Response:
    """A picture that `/r` or `/v2/scrape` took within the last hour, by the address that they gave."""
    signed = hmac.compare_digest(_signature(service.secret, name, until).encode(), sig.encode("utf-8", "surrogatepass"))
    picture = service.screenshots.find(name) if signed and _NAME.fullmatch(name) and until > time.time() else None
    if picture is None:
        raise NotFound("There is no such picture, or no more.", suggestions=("Ask for it again.",))
    return Response(picture, media_type="image/png", headers=HEADERS)
