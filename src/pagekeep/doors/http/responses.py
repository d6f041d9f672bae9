"""JSON responses, ETags for conditional requests, and files to download."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from fastapi.routing import APIRoute
from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import ContentStream
from starlette.types import Receive, Scope, Send

from pagekeep.capture.documents.file_types import detect
from pagekeep.model import RawPage
from pagekeep.model.archive import CopyKind

_PART_CHARS: Final = 65_536
"""Characters of a long text that are encoded at a time."""
_PART_ENTRIES: Final = 200
"""Entries of a long list that are encoded at a time."""


class Json(JSONResponse):
    """A JSON response."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return _to_json(content)


class LongResponse(Response):
    """A response that is encoded part by part while it is sent: a long page is never in memory as text and as bytes."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        super().__init__(headers={**headers, "Content-Length": str(sum(map(len, self._parts())))})

    def _parts(self) -> Iterator[bytes]:
        """Yield the body; the same at each call."""
        raise NotImplementedError

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for part in self._parts():
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


class LongText(LongResponse):
    """A long text in pieces. Lone surrogates become question marks. The type is in the headers."""

    def __init__(self, pieces: Sequence[str], headers: Mapping[str, str]) -> None:
        self._pieces = pieces
        super().__init__(headers)

    def _parts(self) -> Iterator[bytes]:
        for piece in self._pieces:
            for start in range(0, len(piece), _PART_CHARS):
                yield piece[start : start + _PART_CHARS].encode("utf-8", "replace")


class LongJson(LongResponse):
    """A long JSON response, with the bytes that `Json` would have; objects in it that have long texts are sent in parts."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = content
        super().__init__({"Content-Type": "application/json"})

    def _parts(self) -> Iterator[bytes]:
        return _json_parts(self._content)


def _json_parts(value: Any) -> Iterator[bytes]:
    """Yield a value as JSON: texts in parts, objects by field, lists by a few of their entries."""
    if isinstance(value, str):
        yield b'"'
        for start in range(0, len(value), _PART_CHARS):
            yield _to_json(value[start : start + _PART_CHARS])[1:-1]
        yield b'"'
    elif isinstance(value, dict):
        yield b"{"
        for number, (name, one) in enumerate(value.items()):
            yield (b"," if number else b"") + _to_json(name) + b":"
            yield from _json_parts(one)
        yield b"}"
    elif isinstance(value, list):
        yield b"["
        for start in range(0, len(value), _PART_ENTRIES):
            yield (b"," if start else b"") + _to_json(value[start : start + _PART_ENTRIES])[1:-1]
        yield b"]"
    else:
        yield _to_json(value)


def _to_json(content: Any) -> bytes:
    """Return JSON. Lone surrogates from a page become question marks instead of an error."""
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
