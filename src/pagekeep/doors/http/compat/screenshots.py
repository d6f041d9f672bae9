"""`/screenshots`: screenshots of pages, for an hour, at signed URLs.

Clients of Jina and Firecrawl fetch them without a token, as from those services: the URL is enough to see the screenshot.
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

from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.service import SCREENSHOT_SECONDS, CurrentService, Service
from pagekeep.errors import NotFound

router = APIRouter(tags=["reader"])
_NAME: Final = re.compile(r"[0-9a-f]{32}\.png")
HEADERS: Final = {
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Content-Disposition": "inline",
}


async def store_screenshot(image: bytes, request: Request, service: Service) -> str:
    """Store a screenshot and return its URL, which is valid for an hour."""
    name, until = f"{secrets.token_hex(16)}.png", int(time.time()) + SCREENSHOT_SECONDS
    await to_thread(service.screenshots.store, name, image)
    base = str(request.base_url).rstrip("/")
    return f"{base}/screenshots/{name}?until={until}&sig={_signature(service.secret, name, until)}"


def _signature(secret: bytes, name: str, until: int) -> str:
    return hmac.new(secret, f"screenshot\n{name}\n{until}".encode(), hashlib.sha256).hexdigest()


@router.get(
    "/screenshots/{name}",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}, **error_responses(404)},
)
def show_screenshot(
    service: CurrentService,
    name: Annotated[str, Path(max_length=100)],
    until: Annotated[int, Query(ge=0, le=10**12)],
    sig: Annotated[str, Query(max_length=64)],
) -> Response:
    """Return a screenshot taken by `/r` or `/v2/scrape` within the last hour."""
    signed = hmac.compare_digest(_signature(service.secret, name, until).encode(), sig.encode("utf-8", "surrogatepass"))
    image = service.screenshots.find(name) if signed and _NAME.fullmatch(name) and until > time.time() else None
    if image is None:
        raise NotFound("The screenshot does not exist or has expired.", suggestions=("Request the page again.",))
    return Response(image, media_type="image/png", headers=HEADERS)
