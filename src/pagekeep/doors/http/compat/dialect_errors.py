"""Errors in the shape of the dialect whose routes they come from."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.types import Scope

from pagekeep.doors.http.caller import dialect_of
from pagekeep.doors.http.errors import headers_of, status_of
from pagekeep.doors.http.observability.logs import log_reason
from pagekeep.doors.http.responses import Json
from pagekeep.errors import NotSignedIn, PagekeepError
from pagekeep.model.accounts import Scope as Dialect

Record = Callable[[PagekeepError], None]
_OAUTH_NAMES: Final = {400: "invalid_request", 401: "invalid_grant", 403: "access_denied", 404: "not_found"}
_REALM: Final = 'Basic realm="Pagekeep", charset="UTF-8"'


def install(app: FastAPI, record: Record) -> None:
    """Answer errors of dialect routes in their shape, all others as before; call this after the other handlers are set."""
    for kind in (PagekeepError, RequestValidationError, HTTPException):
        other = cast("Callable[[Request, Exception], Any]", app.exception_handlers[kind])
        app.add_exception_handler(kind, _handler(other, record))


def _handler(other: Callable[[Request, Exception], Any], record: Record) -> Any:
    async def handle(request: Request, error: Exception) -> Response:
        dialect = dialect_of(request.url.path)
        if dialect is None:
            return cast("Response", await other(request, error))
        if isinstance(error, PagekeepError):
            record(error)
            return shape(dialect, status_of(error), error.message, headers_of(error), is_sign_in(error))
        if isinstance(error, HTTPException):
            status = error.status_code
            return shape(dialect, status, HTTPStatus(status).phrase, dict(error.headers or {}))
        in_path = isinstance(error, RequestValidationError) and any(e["loc"][:1] == ("path",) for e in error.errors())
        if in_path:  # such as letters in place of a number
            return shape(dialect, HTTPStatus.NOT_FOUND, "Not found.")
        return shape(dialect, HTTPStatus.UNPROCESSABLE_ENTITY, "Invalid request.")

    return handle


def is_sign_in(error: PagekeepError) -> bool:
    """Return whether the caller must sign in."""
    return isinstance(error, NotSignedIn)


def rejection(scope: Scope, error: PagekeepError, other: Callable[[Scope, PagekeepError], Response]) -> Response:
    """Return the response to a request rejected before any route."""
    dialect = dialect_of(scope["path"])
    if dialect is None:
        return other(scope, error)
    log_reason(error)
    return shape(dialect, status_of(error), error.message, headers_of(error), is_sign_in(error))


def shape(
    dialect: Dialect, status: int, message: str, headers: dict[str, str] | None = None, sign_in: bool = False
) -> Response:
    """Return an error as the dialect's own server writes it. An invalid request is 400 there, never 422."""
    status = HTTPStatus.BAD_REQUEST if status == HTTPStatus.UNPROCESSABLE_ENTITY else status
    if dialect == "wallabag":
        name = _OAUTH_NAMES.get(status, "error")
        body: dict[str, Any] = {"error": name, "error_description": message, "code": int(status), "message": message}
    elif dialect == "linkding":
        body = {"detail": message, "error": message}
    else:
        body = {"title": message, "status": int(status)}
    if dialect == "opds" and sign_in:
        headers = {**(headers or {}), "WWW-Authenticate": _REALM}
    response = Json(body, status, headers)
    if dialect == "opds":
        response.headers["content-type"] = "application/problem+json"
    return response
