"""`/sign-in` and `/sign-out`, for shared servers, and `/sign-in/openid` with an OpenID Connect provider."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from dataclasses import asdict
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from pagekeep.doors.http.caller import Caller, drop_session, require_write, session_of, set_session
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.middleware.origins import own_path, reject_cross_site
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.doors.http.web.layout import page
from pagekeep.errors import AccessError, NotFound, NotSignedIn
from pagekeep.identity import accounts
from pagekeep.identity.openid import Attempt, Claims, new_attempt, user_of

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
    is_secure = request.url.scheme == "https"
    response.delete_cookie(_name(request), path="/", secure=is_secure, httponly=True, samesite="lax")  # it is used once
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


MAX_SECONDS: Final = 600
"""Time for signing in at the provider."""
_PLAIN: Final = "pagekeep_openid"
_SECURE: Final = f"__Host-{_PLAIN}"


def set_attempt(response: Response, request: Request, attempt: Attempt, secret: bytes) -> None:
    """Set the cookie, signed; hidden from scripts, and sent when the provider leads back."""
    content = json.dumps({**asdict(attempt), "until": time.time() + MAX_SECONDS}, separators=(",", ":")).encode()
    encoded = base64.urlsafe_b64encode(content).decode().rstrip("=")  # which would have to be quoted
    value = f"{encoded}.{_sign(content, secret)}"
    is_secure = request.url.scheme == "https"
    response.set_cookie(
        _name(request), value, max_age=MAX_SECONDS, path="/", secure=is_secure, httponly=True, samesite="lax"
    )


def attempt_of(request: Request, secret: bytes) -> Attempt | None:
    """Return the attempt that this browser began, unless that was too long ago."""
    encoded, _, signature = request.cookies.get(_name(request), "").partition(".")
    try:
        content = base64.urlsafe_b64decode(encoded.encode("ascii") + b"=" * (-len(encoded) % 4))
    except ValueError:
        return None
    if not hmac.compare_digest(signature.encode("utf-8", "replace"), _sign(content, secret).encode()):
        return None
    found = json.loads(content)  # our own
    until = found.pop("until")
    return Attempt(**found) if until > time.time() else None


def _name(request: Request) -> str:
    return _SECURE if request.url.scheme == "https" else _PLAIN


def _sign(content: bytes, secret: bytes) -> str:
    return hmac.new(secret, b"openid " + content, hashlib.sha256).hexdigest()
