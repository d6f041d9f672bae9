"""Answers as JSON, each with a tag by which a client can ask whether anything changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.responses import Response


class Json(Response):
    """JSON of anything our own shapes hold. A lone surrogate from a page becomes a question mark and no error."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The body."""
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def tagged(request: Request, response: Response, tag: str | None = None) -> Response:
    """The response with its tag, or 304 when the client has it already. The tag is of the body unless one is given."""
    tag = tag or f'"{hashlib.sha256(response.body).hexdigest()[:24]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Accept, Authorization, Cookie"}
    if holds(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers=headers)
    response.headers.update(headers)
    return response


def answer(request: Request, value: Mapping[str, Any]) -> Response:
    """What a route that looks answers with."""
    return tagged(request, Json(value))


def holds(given: str | None, tag: str) -> bool:
    """Whether a header such as `If-None-Match` names the tag. Weak forms count: proxies weaken what they compress."""
    tags = {part.strip().removeprefix("W/") for part in (given or "").split(",")}
    return tag in tags or "*" in tags
