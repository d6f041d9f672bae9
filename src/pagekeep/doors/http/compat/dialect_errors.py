"""Errors in the shape of the dialect whose routes they come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, Literal, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.types import Scope

from pagekeep.doors.http.caller import dialect_of
from pagekeep.doors.http.compat.firecrawl.scrape import write_failure
from pagekeep.doors.http.errors import headers_of, status_of
from pagekeep.doors.http.observability import log_reason
from pagekeep.doors.http.responses import Json
from pagekeep.errors import NotSignedIn, PagekeepError
from pagekeep.model.accounts import Scope as Dialect

Record = Callable[[PagekeepError], None]
_OAUTH_NAMES: Final = {
    400: "invalid_request",
    401: "invalid_grant",
    403: "access_denied",
    404: "not_found",
    429: "too_many_requests",
}
_REALM: Final = 'Basic realm="Pagekeep", charset="UTF-8"'


def install(app: FastAPI, record: Record) -> None:
    """Answer errors of dialect routes in their shape, all others as before; call this after the other handlers are set."""
    for kind in (PagekeepError, RequestValidationError, HTTPException):
        other = cast("Callable[[Request, Exception], Any]", app.exception_handlers[kind])
        app.add_exception_handler(kind, _handler(other, record))


def _handler(other: Callable[[Request, Exception], Any], record: Record) -> Any:
    async def handle(request: Request, error: Exception) -> Response:
        dialect = _speaks(request.url.path)
        if dialect is None:
            return cast("Response", await other(request, error))
        if isinstance(error, PagekeepError):
            record(error)
            return shape(dialect, Fault.of(error))
        if isinstance(error, HTTPException):
            status = error.status_code
            return shape(dialect, Fault(status, HTTPStatus(status).phrase, dict(error.headers or {})))
        faults = error.errors() if isinstance(error, RequestValidationError) else []
        if any(fault["loc"][:1] == ("path",) for fault in faults):  # such as letters in place of a number
            return shape(dialect, Fault(HTTPStatus.NOT_FOUND, "Not found."))
        details = tuple(f"{'.'.join(str(step) for step in fault['loc'])}: {fault['msg']}" for fault in faults)
        return shape(dialect, Fault(HTTPStatus.UNPROCESSABLE_ENTITY, "Invalid request.", {}, "InvalidRequest", details))

    return handle


def _speaks(path: str) -> Dialect | Literal["firecrawl"] | None:
    """Return the dialect that a route speaks."""
    return "firecrawl" if path.startswith("/v2/") else dialect_of(path)


@dataclass(frozen=True, slots=True)
class Fault:
    """An error, before it has the shape of a dialect."""

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    details: tuple[str, ...] = ()
    """Suggestions, or what is wrong with a request."""
    must_sign_in: bool = False

    @classmethod
    def of(cls, error: PagekeepError) -> Fault:
        """Return an error of ours."""
        must_sign_in = isinstance(error, NotSignedIn)
        details = tuple(error.suggestions)
        return cls(status_of(error), error.message, headers_of(error), error.type, details, must_sign_in)


def rejection(scope: Scope, error: PagekeepError, other: Callable[[Scope, PagekeepError], Response]) -> Response:
    """Return the response to a request rejected before any route."""
    dialect = _speaks(scope["path"])
    if dialect is None:
        return other(scope, error)
    log_reason(error)
    return shape(dialect, Fault.of(error))


def shape(dialect: Dialect | Literal["firecrawl"], fault: Fault) -> Response:
    """Return an error as the dialect's own server writes it. An invalid request is 400 there, never 422."""
    status = HTTPStatus.BAD_REQUEST if fault.status == HTTPStatus.UNPROCESSABLE_ENTITY else fault.status
    message, headers = fault.message, dict(fault.headers)
    if dialect == "firecrawl":
        return write_failure(fault.status, message, fault.code, fault.details, headers)
    if dialect == "wallabag":
        name = _OAUTH_NAMES.get(status, "error")
        body: dict[str, Any] = {"error": name, "error_description": message, "code": int(status), "message": message}
    elif dialect == "linkding":
        body = {"detail": message, "error": message}
    else:
        body = {"title": message, "status": int(status)}
    if dialect == "opds" and fault.must_sign_in:
        headers["WWW-Authenticate"] = _REALM
    response = Json(body, status, headers)
    if dialect == "opds":
        response.headers["content-type"] = "application/problem+json"
    return response
