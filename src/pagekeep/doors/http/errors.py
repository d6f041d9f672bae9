"""Errors as JSON responses: one shape for every route, without internal details."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from pagekeep import errors
from pagekeep.doors.http.responses import Json
from pagekeep.errors import PagekeepError

STATUSES: Final[dict[type[PagekeepError], HTTPStatus]] = {
    errors.InvalidUrl: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.InvalidProtocol: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.BlockedAddress: HTTPStatus.FORBIDDEN,
    errors.FetchTimeout: HTTPStatus.GATEWAY_TIMEOUT,
    errors.FetchError: HTTPStatus.BAD_GATEWAY,
    errors.TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.TooSlow: HTTPStatus.REQUEST_TIMEOUT,
    errors.UnsupportedContent: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    errors.RenderError: HTTPStatus.BAD_GATEWAY,
    errors.ParseError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.RuleError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.RetryLimit: HTTPStatus.CONFLICT,
    errors.Conflict: HTTPStatus.CONFLICT,
    errors.Outdated: HTTPStatus.PRECONDITION_FAILED,
    errors.NotOffered: HTTPStatus.NOT_IMPLEMENTED,
    errors.StoreError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.ServerStopped: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.InvalidQuery: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.NotSignedIn: HTTPStatus.UNAUTHORIZED,
    errors.NotAllowed: HTTPStatus.FORBIDDEN,
    errors.TooManyRequests: HTTPStatus.TOO_MANY_REQUESTS,
    errors.PagekeepError: HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""The HTTP status of each error class; subclasses inherit it."""
FETCH_STATUSES: Final = (415, 502, 504)
"""Statuses of errors while fetching a page."""
_HEADERS: Final[dict[type[PagekeepError], dict[str, str]]] = {
    errors.NotSignedIn: {"WWW-Authenticate": "Bearer"},
}


class Failure(BaseModel):
    """The details of an error."""

    type: str = Field(examples=["NotFound"])
    message: str = Field(examples=["There is no item 3f2a."])
    suggestions: list[str] = []
    item_id: str | None = Field(
        None, description="Of a failed save: the bookmark that keeps the URL, or the item as it was before."
    )


class Error(BaseModel):
    """The body of every error response."""

    success: Literal[False]
    error: Failure


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the errors of a route for the OpenAPI document."""
    return {status: {"model": Error} for status in (400, 401, 403, 413, 422, 503, *statuses)}


def status_of(error: PagekeepError) -> HTTPStatus:
    """Return the HTTP status of an error."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def headers_of(error: PagekeepError) -> dict[str, str]:
    """Return the additional headers of an error response."""
    if isinstance(error, (errors.TooManyRequests, errors.DatabaseUnreachable, errors.ServerStopped)):
        return {"Retry-After": str(error.seconds)}
    return next((headers for kind, headers in _HEADERS.items() if isinstance(error, kind)), {})


def error_response(error: PagekeepError) -> Json:
    """Return the error as JSON."""
    return Json(error.to_json(), status_of(error), headers_of(error))


def internal_error_response() -> Json:
    """Return the response to an unexpected error; its details are only in the log."""
    return Json(
        _shape("Unexpected", "Internal server error.", ["Try again. If it happens again, please report it."]), 500
    )


def _shape(kind: str, message: str, suggestions: list[str]) -> dict[str, Any]:
    return {"success": False, "error": {"type": kind, "message": message, "suggestions": suggestions}}


def opens_page(request: Request) -> bool:
    """Return whether a browser opens a page; programs do not prefer HTML."""
    return request.headers.get("accept", "").startswith("text/html") and "authorization" not in request.headers


def install(app: FastAPI, record: Callable[[PagekeepError], None]) -> None:
    """Turn every error of a route into JSON, and record it."""

    @app.exception_handler(PagekeepError)
    def _pagekeep_error(_request: Request, error: PagekeepError) -> Response:
        record(error)
        return error_response(error)

    @app.exception_handler(RequestValidationError)
    def _validation_error(_request: Request, error: RequestValidationError) -> Response:
        faults = [f"{'.'.join(str(step) for step in fault['loc'])}: {fault['msg']}" for fault in error.errors()]
        return Json(_shape("InvalidRequest", "Invalid request.", faults), 422)

    @app.exception_handler(HTTPException)
    def _http_error(_request: Request, error: HTTPException) -> Response:
        phrase = HTTPStatus(error.status_code).phrase
        message = "Not found." if error.status_code == HTTPStatus.NOT_FOUND else f"{phrase}."
        kind = phrase.title().replace(" ", "").replace("-", "")
        return Json(_shape(kind, message, []), error.status_code, getattr(error, "headers", None))
