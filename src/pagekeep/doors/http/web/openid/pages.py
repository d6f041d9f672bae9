"""`/sign-in/openid`: to the provider's page, and back from there."""

from __future__ import annotations

import hmac
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from pagekeep import accounts
from pagekeep.doors.http.middleware.cookies import session_of, set_session
from pagekeep.doors.http.middleware.cross_site import own_path
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.doors.http.web.openid.attempt_cookie import attempt_of, drop_attempt, set_attempt
from pagekeep.doors.http.web.sign_in import show_form
from pagekeep.errors import AccessError, NotFound, NotSignedIn
from pagekeep.openid.id_token import Claims
from pagekeep.openid.provider import Attempt, new_attempt
from pagekeep.openid.users import user_of

router = APIRouter(include_in_schema=False)
_TRY_AGAIN = ("Sign in again.",)
Sent = Annotated[str, Query(max_length=4_000)]


@router.get("/sign-in/openid")
async def begin_openid(
    request: Request, service: CurrentService, back: Annotated[str, Query(max_length=2_000)] = "/"
) -> Response:
    """Lead to the provider's sign-in page."""
    _require(service)
    attempt = new_attempt(own_path(back))
    try:
        address = await service.openid.sign_in_address(attempt, _redirect_uri(request))
    except AccessError as error:
        return show_form(request, service, back, error=error)
    response = RedirectResponse(address, 303, {"Cache-Control": "no-store"})
    set_attempt(response, request, attempt, service.secret)
    return response


@router.get("/sign-in/openid/callback")
async def finish_openid(
    request: Request,
    service: CurrentService,
    code: Sent = "",
    state: Sent = "",
    iss: Sent = "",
    error: Sent = "",
) -> Response:
    """Check what the provider says, and start a session."""
    _require(service)
    attempt = attempt_of(request, service.secret)
    try:
        begun = _check_answer(service, attempt, state, iss, error)
        claims = await service.openid.claims(code, begun, _redirect_uri(request))
        session = await run_in_threadpool(_open_session, request, service, claims)
    except AccessError as refused:
        response = show_form(request, service, attempt.back if attempt else "/", error=refused)
    else:
        response = RedirectResponse(own_path(begun.back), 303)
        set_session(response, request, session)
    drop_attempt(response, request)
    response.headers["Cache-Control"] = "no-store"
    return response


def _require(service: Service) -> None:
    if not service.shared or not service.openid.is_set_up:
        raise NotFound("This server has no sign-in provider.")


def _check_answer(service: Service, attempt: Attempt | None, state: str, iss: str, error: str) -> Attempt:
    """Return the attempt that the answer belongs to: begun in this browser, at this provider, and not cancelled."""
    if attempt is None:
        raise NotSignedIn("This sign-in was not begun here, or too long ago.", suggestions=_TRY_AGAIN)
    if not hmac.compare_digest(state.encode("utf-8", "surrogatepass"), attempt.state.encode()):
        raise NotSignedIn("This is the answer to another sign-in.", suggestions=_TRY_AGAIN)
    if iss and iss.rstrip("/") != service.openid.issuer:
        raise NotSignedIn("This is the answer of another provider.", suggestions=_TRY_AGAIN)
    if error:
        raise NotSignedIn("The provider did not sign you in.", suggestions=_TRY_AGAIN)
    return attempt


def _open_session(request: Request, service: Service, claims: Claims) -> str:
    """Return the key of a new session of the user; the current one ends."""
    user = user_of(service.accounts, service.settings, claims)
    if old_session := session_of(request):
        accounts.sign_out(service.accounts, old_session)
    return accounts.open_session(service.accounts, user.id)


def _redirect_uri(request: Request) -> str:
    return f"{str(request.base_url).rstrip('/')}/sign-in/openid/callback"
