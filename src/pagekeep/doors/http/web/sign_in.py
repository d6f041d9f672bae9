"""`/sign-in` and `/sign-out`, for shared servers."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from pagekeep import accounts
from pagekeep.doors.http.caller import Caller, require_write
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.middleware.cookies import drop_session, session_of, set_session
from pagekeep.doors.http.middleware.cross_site import own_path, reject_cross_site
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.doors.http.web.layout.page import page
from pagekeep.errors import AccessError

router = APIRouter(include_in_schema=False)

_CLEAR_SITE_DATA: Final = '"cache", "cookies", "storage"'
"""Also removes the pages stored for offline reading: they belong to the user who signs out."""


@router.get("/sign-in")
def show_sign_in(
    request: Request,
    service: CurrentService,
    back: Annotated[str, Query(max_length=2_000)] = "/",
) -> Response:
    """Show the form; redirect to the library on a server without accounts."""
    if not service.shared:
        return RedirectResponse(own_path(back), 303)
    return show_form(request, service, back)


@router.post("/sign-in")
async def sign_in(
    request: Request,
    service: CurrentService,
    name: Annotated[str, Form(max_length=200)] = "",
    password: Annotated[str, Form(max_length=1_000)] = "",
    back: Annotated[str, Form(max_length=2_000)] = "/",
) -> Response:
    """Check the password and start a session, replacing the current one."""
    reject_cross_site(request)  # otherwise another site could sign a user in to the attacker's account
    if not service.shared:
        return RedirectResponse(own_path(back), 303)
    address = request.client.host if request.client else ""
    try:
        async with service.sign_ins.take(address):
            session = await run_in_threadpool(_replace_session, request, service, name, password)
    except AccessError as error:
        return show_form(request, service, back, name=name, error=error)
    response = RedirectResponse(own_path(back), 303)
    set_session(response, request, session)
    return response


def _replace_session(request: Request, service: Service, name: str, password: str) -> str:
    """Return the key of a new session; the current one ends."""
    address = request.client.host if request.client else ""
    _, session = accounts.sign_in(service.accounts, name, password, address)
    if old_session := session_of(request):
        accounts.sign_out(service.accounts, old_session)
    return session


@router.post("/sign-out")
def sign_out(
    request: Request,
    service: CurrentService,
    _caller: Annotated[Caller, Depends(require_write)],
) -> Response:
    """End the session on the server and in the browser."""
    if session := session_of(request):
        accounts.sign_out(service.accounts, session)
    response = RedirectResponse("/sign-in", 303, {"Clear-Site-Data": _CLEAR_SITE_DATA})
    drop_session(response, request)
    return response


def redirect_to_sign_in(request: Request) -> Response:
    """Redirect to the sign-in form, and from there back to the requested page."""
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    back = f"?back={quote(target, safe='')}" if request.method == "GET" and target != "/" else ""
    return RedirectResponse(f"/sign-in{back}", 303)


def show_form(
    request: Request, service: Service, back: str, *, name: str = "", error: AccessError | None = None
) -> Response:
    """Return the page with the form, and what went wrong."""
    status = status_of(error) if error else 200
    provider = service.settings.openid_name if service.openid.is_set_up else None
    response = page(
        request, "sign_in.html", status=status, back=own_path(back), name=name, error=error, provider=provider
    )
    response.headers["Cache-Control"] = "no-store"
    return response
