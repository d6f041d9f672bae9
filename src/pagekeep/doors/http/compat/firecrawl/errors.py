"""Errors in the shape of Firecrawl: `error` is always a string."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from fastapi.responses import Response
from pydantic import BaseModel

from pagekeep.doors.http.errors import error_responses
from pagekeep.doors.http.responses import Json

_STATUSES: Final = {415: 400, 422: 400, 501: 400, 502: 500, 504: 408}
"""Statuses that Firecrawl does not use, each with the one that it does; its SDKs repeat a request after 502."""


class Failure(BaseModel):
    success: Literal[False]
    error: str
    code: str = ""
    suggestions: list[str] = []


def failure_responses() -> dict[int | str, dict[str, Any]]:
    """Return the errors of a route for the OpenAPI document."""
    return {status: {"model": Failure} for status in error_responses(404, 408, 409, 429, 500) if status != 422}


def write_failure(
    status: int, message: str, code: str, suggestions: Sequence[str], headers: Mapping[str, str]
) -> Response:
    """Return an error."""
    body = {"success": False, "error": message, "code": code, "suggestions": list(suggestions)}
    return Json(body, _STATUSES.get(int(status), int(status)), dict(headers))
