"""Show errors as pages to people; programs and our own script get JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from inspect import isawaitable
from typing import Any, Final, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Scope

from pagekeep.doors.http.errors import error_response, headers_of, internal_error_response, opens_page, status_of
from pagekeep.doors.http.observability import log_reason
from pagekeep.doors.http.web.layout import page
from pagekeep.doors.http.web.sign_in import redirect_to_sign_in
from pagekeep.errors import NotFound, NotSignedIn, PagekeepError

_PROGRAM_PATHS: Final = (
    "/api/",
    "/r/",
    "/v2/",
    "/mcp",
    "/metrics",
    "/healthz",
    "/readyz",
    "/static/",
    "/wallabag/",
    "/linkding/",
    "/opds",
)
_Handler = Callable[[Request, Exception], Response | Awaitable[Response]]


def install(app: FastAPI, record: Callable[[PagekeepError], None]) -> None:
    """Wrap the JSON error handlers, which still answer programs; call this after they are installed."""
    for kind in (PagekeepError, RequestValidationError, HTTPException):
        json_handler = cast("_Handler", app.exception_handlers[kind])
        app.add_exception_handler(kind, _page_handler(json_handler, record))


def _page_handler(json_handler: _Handler, record: Callable[[PagekeepError], None]) -> Any:
    async def handle(request: Request, error: Exception) -> Response:
        if is_person(request):
            if isinstance(error, PagekeepError):
                record(error)
            return _error_page(request, error)
        response = json_handler(request, error)
        return await response if isawaitable(response) else response

    return handle


def internal_error(scope: Scope) -> ASGIApp:
    """Return the response to an unexpected error: a page for people, JSON for programs."""
    request = Request(scope)
    if not is_person(request):
        return internal_error_response()
    error = PagekeepError(
        "Internal server error.", suggestions=("Try again in a moment.", "If it happens again, please report it.")
    )
    return page(request, "error.html", status=500, error=error, code=500)


def rejection(scope: Scope, error: PagekeepError) -> Response:
    """Return the response to a request rejected before any route: a page for people, JSON for programs."""
    request = Request(scope)
    log_reason(error)
    return _error_page(request, error) if is_person(request) else error_response(error)


def is_person(request: Request) -> bool:
    """Return whether a browser requests a page."""
    return opens_page(request) and "x-part" not in request.headers and not request.url.path.startswith(_PROGRAM_PATHS)


def _error_page(request: Request, error: Exception) -> Response:
    if isinstance(error, NotSignedIn) and request.url.path != "/sign-in":
        return redirect_to_sign_in(request)
    page_error, status = _translate(error)
    response = page(request, "error.html", status=status, error=page_error, code=status)
    response.headers.update(headers_of(page_error))
    return response


def _translate(error: Exception) -> tuple[PagekeepError, int]:
    if isinstance(error, PagekeepError):
        return error, status_of(error)
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.NOT_FOUND:
        return NotFound("Page not found."), 404
    status = error.status_code if isinstance(error, HTTPException) else 422
    return PagekeepError(f"{HTTPStatus(status).phrase}."), status
