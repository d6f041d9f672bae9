"""JSON responses, ETags for conditional requests, and files to download."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Coroutine
from typing import Any, Final
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from fastapi.routing import APIRoute
from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import ContentStream

from pagekeep.capture.documents.file_types import detect
from pagekeep.model import RawPage
from pagekeep.model.archive import CopyKind


class Json(JSONResponse):
    """A JSON response. Lone surrogates from a page become question marks instead of an error."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        try:
            return to_json(content)  # four times as fast as `json`, but it refuses lone surrogates
        except PydanticSerializationError:
            pass
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


class TaggedRoute(APIRoute):
    """A route whose GET responses have an ETag; a client that already has the body gets 304 instead."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, which adds the ETag after FastAPI checked the response."""
        handler = super().get_route_handler()
        if "GET" not in (self.methods or ()):
            return handler

        async def handle(request: Request) -> Response:
            return add_etag(request, await handler(request))

        return handle


def add_etag(request: Request, response: Response) -> Response:
    """Add an ETag to a response, a hash of the body unless the route set one; return 304 if the client has it already."""
    if response.status_code != 200 or not isinstance(getattr(response, "body", None), bytes):
        return response
    etag = response.headers.get("etag") or f'"{hashlib.sha256(response.body).hexdigest()[:24]}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Accept, Authorization, Cookie"}
    if has_etag(request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    if response.headers.get("cache-control") == "no-store":
        del response.headers["etag"]
    else:
        response.headers.update(headers)
    return response


def has_etag(header: str | None, etag: str) -> bool:
    """Return whether a header such as `If-None-Match` lists the ETag. Weak forms count: proxies weaken what they compress."""
    etags = {part.strip().removeprefix("W/") for part in (header or "").split(",")}
    return etag in etags or "*" in etags


def file_response(raw: RawPage, title: str) -> Response:
    """Return a page or document as it was fetched or uploaded: always a download, so that nothing of it runs here."""
    file_type = detect(raw.body, raw.content_type)
    suffix = file_type.suffix if file_type else _PAGE_SUFFIXES.get(raw.content_type, "html")
    name = quote(f"{file_name(title)}.{suffix}", safe="")
    encoding = raw.encoding or ""
    is_text = file_type is None or file_type.by_name
    charset = f"; charset={encoding}" if is_text and encoding.replace("-", "").isalnum() else ""
    return Response(
        raw.body,
        headers={
            "Content-Type": f"{file_type.content_type if file_type else raw.content_type}{charset}",
            "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
            "Content-Security-Policy": COPY_POLICY,
            "Cache-Control": "private, no-cache",
        },
    )


def download(parts: ContentStream, name: str, media_type: str) -> StreamingResponse:
    """Return a file that is made while it is sent."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return StreamingResponse(parts, media_type=media_type, headers=headers)


def file_name(title: str) -> str:
    """Return a file name for the title that is valid on every system."""
    cleaned = "".join(" " if char in '*"\\/<>:|?#^[]' or not char.isprintable() else char for char in title)
    return " ".join(cleaned.split()).lstrip(". ").encode("utf-8", "ignore")[:150].decode("utf-8", "ignore") or "page"


_PAGE_SUFFIXES: Final = {
    "text/plain": "txt",
    "text/markdown": "md",
    "text/x-markdown": "md",
    "application/xhtml+xml": "xhtml",
}
COPY_POLICY: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""A copy of a page runs no script, loads nothing, and does not get our origin."""
_COPY_TYPES: Final[dict[CopyKind, str]] = {
    "screenshot": "image/png",
    "pdf": "application/pdf",
    "html": "text/html; charset=utf-8",
}


def copy_response(body: bytes, kind: CopyKind, name: str) -> Response:
    """Return a copy of a page such that nothing of it runs as a part of this server; a PDF is a download."""
    headers = {
        "Content-Security-Policy": COPY_POLICY,
        "X-DNS-Prefetch-Control": "off",
        "Cache-Control": "private, no-cache",
    }
    if kind == "pdf":
        headers["Content-Disposition"] = f'attachment; filename="{name}.pdf"'
    return Response(body, media_type=_COPY_TYPES[kind], headers=headers)


_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f"\\/:*?<>|;%]+')
_MAX_CHARS: Final = 100


def attachment(title: str, ending: str) -> str:
    """Return the header `Content-Disposition` for a file named after a title, for old and new clients."""
    name = " ".join(_UNSAFE.sub(" ", title).split()).strip(". ")[:_MAX_CHARS].strip() or "page"
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().strip() or "page"
    header = f'attachment; filename="{plain}.{ending}"'
    encoded = quote(f"{name}.{ending}".encode("utf-8", "replace"))
    return header if plain == name else f"{header}; filename*=UTF-8''{encoded}"
