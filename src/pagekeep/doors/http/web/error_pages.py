"""Errors as pages, for people; programs and our own script get them as they always do."""

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

from pagekeep.doors.http.errors import error_answer, opens_page, status_of, unexpected_answer
from pagekeep.doors.http.web.layout.page import page
from pagekeep.doors.http.web.sign_in import way_in
from pagekeep.errors import NotFound, NotSignedIn, PagekeepError

_FOR_PROGRAMS: Final = ("/api/", "/r/", "/v2/", "/mcp", "/metrics", "/healthz", "/readyz", "/static/")
_Handler = Callable[[Request, Exception], Response | Awaitable[Response]]


def install(app: FastAPI, count: Callable[[str], None]) -> None:
    """After the handlers for programs, which stay in force for them."""
    for kind in (PagekeepError, RequestValidationError, HTTPException):
        before = cast("_Handler", app.exception_handlers[kind])
        app.add_exception_handler(kind, _for_people(before, count))


def _for_people(for_programs: _Handler, count: Callable[[str], None]) -> Any:
    async def handle(request: Request, error: Exception) -> Response:
        if is_person(request):
            if isinstance(error, PagekeepError):
                count(error.type)
            return _shown(request, error)
        answer = for_programs(request, error)
        return await answer if isawaitable(answer) else answer

    return handle


def unexpected(scope: Scope) -> ASGIApp:
    """What is shown for a fault of ours, to people as a page."""
    request = Request(scope)
    if not is_person(request):
        return unexpected_answer()
    error = PagekeepError(
        "Something went wrong here.", suggestions=("Try again in a moment.", "If it stays so, please report it.")
    )
    return page(request, "error.html", status=500, error=error, code=500)


def refused(scope: Scope, error: PagekeepError) -> Response:
    """What is shown for a request that no route gets to see, to people as a page."""
    request = Request(scope)
    return _shown(request, error) if is_person(request) else error_answer(error)


def is_person(request: Request) -> bool:
    """Whether a browser asks for a page."""
    return opens_page(request) and "x-part" not in request.headers and not request.url.path.startswith(_FOR_PROGRAMS)


def _shown(request: Request, error: Exception) -> Response:
    if isinstance(error, NotSignedIn) and request.url.path != "/sign-in":
        return way_in(request)
    told, status = _told(error)
    return page(request, "error.html", status=status, error=told, code=status)


def _told(error: Exception) -> tuple[PagekeepError, int]:
    if isinstance(error, PagekeepError):
        return error, status_of(error)
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.NOT_FOUND:
        return NotFound("There is nothing at this address."), 404
    status = error.status_code if isinstance(error, HTTPException) else 422
    return PagekeepError(f"{HTTPStatus(status).phrase}."), status
