"""Errors as answers: the same shape for every route, and no word about the inside."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
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
    errors.InvalidQuery: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.NotSignedIn: HTTPStatus.UNAUTHORIZED,
    errors.NotAllowed: HTTPStatus.FORBIDDEN,
    errors.TooManyRequests: HTTPStatus.TOO_MANY_REQUESTS,
    errors.PagekeepError: HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""By the nearest class in the tree."""
_HEADERS: Final[dict[type[PagekeepError], dict[str, str]]] = {
    errors.NotSignedIn: {"WWW-Authenticate": "Bearer"},
    errors.TooManyRequests: {"Retry-After": "60"},
}


def status_of(error: PagekeepError) -> HTTPStatus:
    """The status that says the same."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def headers_of(error: PagekeepError) -> dict[str, str]:
    """What else the answer says, to programs."""
    return next((headers for kind, headers in _HEADERS.items() if isinstance(error, kind)), {})


def error_answer(error: PagekeepError) -> Json:
    """The error as JSON."""
    return Json(error.to_json(), status_of(error), headers_of(error))


def unexpected_answer() -> Json:
    """For a fault of ours: what it was is in the log alone."""
    return Json(_shape("Unexpected", "Something went wrong here.", ["Try again, and report the fault."]), 500)


def _shape(kind: str, message: str, suggestions: list[str]) -> dict[str, Any]:
    return {"success": False, "error": {"type": kind, "message": message, "suggestions": suggestions}}


def opens_page(request: Request) -> bool:
    """Whether a person opens this in a browser; programs do not ask for HTML before all else."""
    return request.headers.get("accept", "").startswith("text/html") and "authorization" not in request.headers


def install(app: FastAPI, count: Callable[[str], None]) -> None:
    """Every error of a route becomes an answer in our shape, and is counted by its type."""

    @app.exception_handler(PagekeepError)
    def _ours(_request: Request, error: PagekeepError) -> Response:
        count(error.type)
        return error_answer(error)

    @app.exception_handler(RequestValidationError)
    def _invalid(_request: Request, error: RequestValidationError) -> Response:
        faults = [f"{'.'.join(str(step) for step in fault['loc'])}: {fault['msg']}" for fault in error.errors()]
        return Json(_shape("InvalidRequest", "The request cannot be read.", faults), 422)

    @app.exception_handler(HTTPException)
    def _plain(_request: Request, error: HTTPException) -> Response:
        phrase = HTTPStatus(error.status_code).phrase
        message = "There is nothing at this address." if error.status_code == HTTPStatus.NOT_FOUND else f"{phrase}."
        kind = phrase.title().replace(" ", "").replace("-", "")
        return Json(_shape(kind, message, []), error.status_code, getattr(error, "headers", None))
