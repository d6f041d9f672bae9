"""`/sign-in` and `/sign-out`: who reads, on a server that several people share."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from pagekeep import accounts
from pagekeep.doors.http.caller import Caller, may_write
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.middleware.cookies import drop_session, session_of, set_session
from pagekeep.doors.http.middleware.cross_site import own_path, refuse_other_sites
from pagekeep.doors.http.service import Service, service_of
from pagekeep.doors.http.web.layout.page import page
from pagekeep.errors import AccessError

router = APIRouter(include_in_schema=False)

_FORGET: Final = '"cache", "cookies", "storage"'
"""What a browser is to forget with the session: pages kept for reading without a network are someone's own."""


@router.get("/sign-in")
def show_sign_in(
    request: Request,
    service: Annotated[Service, Depends(service_of)],
    back: Annotated[str, Query(max_length=2_000)] = "/",
) -> Response:
    """The form; where nobody needs it, the library."""
    if not service.shared:
        return RedirectResponse(own_path(back), 303)
    return _form(request, back)


@router.post("/sign-in")
def sign_in(
    request: Request,
    service: Annotated[Service, Depends(service_of)],
    name: Annotated[str, Form(max_length=200)] = "",
    password: Annotated[str, Form(max_length=1_000)] = "",
    back: Annotated[str, Form(max_length=2_000)] = "/",
) -> Response:
    """A session for whoever knows the password, in place of one that was open here."""
    refuse_other_sites(request)  # else a page could sign people in as someone who then sees what they save
    if not service.shared:
        return RedirectResponse(own_path(back), 303)
    address = request.client.host if request.client else ""
    try:
        _, session = accounts.sign_in(service.accounts, name, password, address)
    except AccessError as error:
        return _form(request, back, name=name, error=error)
    if before := session_of(request):
        accounts.sign_out(service.accounts, before)
    response = RedirectResponse(own_path(back), 303)
    set_session(response, request, session)
    return response


@router.post("/sign-out")
def sign_out(
    request: Request,
    service: Annotated[Service, Depends(service_of)],
    _caller: Annotated[Caller, Depends(may_write)],
) -> Response:
    """The session is over, here and on the server."""
    if session := session_of(request):
        accounts.sign_out(service.accounts, session)
    response = RedirectResponse("/sign-in", 303, {"Clear-Site-Data": _FORGET})
    drop_session(response, request)
    return response


def way_in(request: Request) -> Response:
    """Where someone who opened a page unknown is sent: to sign in, and from there to what they wanted."""
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    back = f"?back={quote(wanted, safe='')}" if request.method == "GET" and wanted != "/" else ""
    return RedirectResponse(f"/sign-in{back}", 303)


def _form(request: Request, back: str, *, name: str = "", error: AccessError | None = None) -> Response:
    status = status_of(error) if error else 200
    shown = page(request, "sign_in.html", status=status, back=own_path(back), name=name, error=error)
    shown.headers["Cache-Control"] = "no-store"
    return shown
