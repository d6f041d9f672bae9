"""Sign-in of wallabag's clients, the pages that the Android app reads to set itself up, and what clients ask first."""

from __future__ import annotations

import hashlib
import hmac
import time
from html import escape
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from pagekeep.doors.http.caller import ReadCaller
from pagekeep.doors.http.compat.parameters import Parameters, SentParameters
from pagekeep.doors.http.compat.wallabag import mapping
from pagekeep.doors.http.middleware.origins import reject_cross_site
from pagekeep.doors.http.responses import Json
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.errors import NotAllowed, NotFound, NotSignedIn
from pagekeep.identity import grants
from pagekeep.identity.accounts import check_password

router = APIRouter()
CLIENT_ID: Final = "1_pagekeep"
CLIENT_SECRET: Final = "pagekeep"
_COOKIE: Final = "pagekeep_wallabag"
_COOKIE_SECONDS: Final = 600
_NO_STORE: Final = {"Cache-Control": "no-store"}
_HEAD: Final = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>wallabag</title></head><body>'
_LOGO: Final = '<img src="/static/icon.svg" width="64" alt="wallabag logo">'


@router.get("/oauth/v2/token")
async def get_token(request: Request, service: CurrentService, sent: SentParameters) -> Response:
    """Give tokens for a password or a refresh token in the query, which some clients use; it is never logged."""
    return await _give_token(request, service, sent)


@router.post("/oauth/v2/token")
async def post_token(request: Request, service: CurrentService, sent: SentParameters) -> Response:
    """Give tokens for a password or a refresh token in a form or in JSON."""
    return await _give_token(request, service, sent)


async def _give_token(request: Request, service: Service, sent: Parameters) -> Response:
    reject_cross_site(request)
    address = request.client.host if request.client else ""
    local = None if service.shared else service.settings.user
    client = sent.text("client_id", max_chars=1_000)
    kind = sent.text("grant_type", max_chars=100)
    try:
        if kind == "password":
            name, password = sent.text("username", max_chars=200), sent.text("password", max_chars=1_000)
            async with service.sign_ins.take(address):
                grant = await run_in_threadpool(
                    grants.grant_by_password,
                    service.accounts,
                    "wallabag",
                    name,
                    password,
                    address,
                    client=client,
                    local=local,
                )
        elif kind == "refresh_token":
            secret = sent.text("refresh_token", max_chars=1_000)
            grant = await run_in_threadpool(
                grants.renew_grant, service.accounts, "wallabag", secret, client=client, local=local
            )
        else:
            return _refuse("unsupported_grant_type", "Use the grant type password or refresh_token.")
    except NotSignedIn:
        reason = "Invalid username and password combination" if kind == "password" else "Invalid refresh token"
        return _refuse("invalid_grant", reason)
    return Json(
        {
            "access_token": grant.access,
            "expires_in": grants.ACCESS_SECONDS,
            "token_type": "bearer",
            "scope": None,
            "refresh_token": grant.refresh,
        },
        headers=_NO_STORE,
    )


def _refuse(error: str, description: str) -> Response:
    """Return an error of OAuth: 400 for a wrong password too, which clients tell from an expired token by that."""
    return Json({"error": error, "error_description": description}, 400, _NO_STORE)


@router.get("/")
@router.get("/login")
async def show_home(request: Request, service: CurrentService) -> Response:
    """Show the sign-in form, or that the client is signed in."""
    if _is_signed_in(request, service):
        return _page(f'{_LOGO}<p>Signed in. <a href="{_base(request)}/logout">Sign out</a></p>')
    csrf = _sign(service, "csrf", int(time.time()) // 3600)
    return _page(
        f'{_LOGO}<form action="{_base(request)}/login_check" method="post" name="loginform">'
        f'<input type="hidden" name="_csrf_token" value="{csrf}">'
        '<label>User name <input type="text" name="_username" autocomplete="username"></label>'
        '<label>Password or app password <input type="password" name="_password" autocomplete="current-password"></label>'
        "<button>Sign in</button></form>"
    )


@router.post("/login_check")
async def check_login(request: Request, service: CurrentService, sent: SentParameters) -> Response:
    """Check the password; the cookie that follows opens the pages here, and nothing else."""
    reject_cross_site(request)
    hour = int(time.time()) // 3600
    sent_csrf = sent.text("_csrf_token", max_chars=200)
    if not any(hmac.compare_digest(sent_csrf.encode(), _sign(service, "csrf", at).encode()) for at in (hour, hour - 1)):
        raise NotAllowed("The form has expired.", suggestions=("Open it again.",))
    name, password = sent.text("_username", max_chars=200), sent.text("_password", max_chars=1_000)
    address = request.client.host if request.client else ""
    response = RedirectResponse(f"{_base(request)}/", 302)
    try:
        async with service.sign_ins.take(address):
            await run_in_threadpool(_check, service, name, password, address)
    except NotSignedIn:
        return response  # to the form again, as wallabag does
    until = int(time.time()) + _COOKIE_SECONDS
    response.set_cookie(
        _COOKIE,
        f"{until}-{_sign(service, 'signed in', until)}",
        max_age=_COOKIE_SECONDS,
        path="/wallabag",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
    return response


def _check(service: Service, name: str, password: str, address: str) -> None:
    local = None if service.shared else service.settings.user
    if password.startswith("pk_"):
        grants.check_app_password(service.accounts, "wallabag", name, password, local=local)
    elif local is None:
        check_password(service.accounts, name, password, address)


@router.get("/logout")
async def log_out(request: Request) -> Response:
    """Delete the cookie of the pages here; tokens stay."""
    response = RedirectResponse(f"{_base(request)}/", 302)
    response.delete_cookie(_COOKIE, path="/wallabag")
    return response


@router.get("/developer")
async def show_developer(request: Request, service: CurrentService) -> Response:
    """Show the one client id that all programs use, in the form in which the Android app looks for it."""
    if not _is_signed_in(request, service):
        return RedirectResponse(f"{_base(request)}/login", 302)
    values = (CLIENT_ID, CLIENT_SECRET, "[]", '["refresh_token","password"]')
    codes = "".join(f"<td><strong><code>{escape(value, quote=False)}</code></strong></td>" for value in values)
    return _page(
        f'{_LOGO}<div class="collapsible-header">Android app - #pagekeep</div><table><tr>{codes}</tr></table>'
        f'<a href="{_base(request)}/developer/client/delete/1">Every program uses this client.</a>'
        f'<a href="{_base(request)}/logout">Sign out</a>'
    )


@router.get("/developer/client/create")
@router.post("/developer/client/create")
async def create_client(request: Request, service: CurrentService) -> Response:
    """Answer as if a client was created; there is one for all."""
    if not _is_signed_in(request, service):
        raise NotFound("Not found.")
    if request.method == "GET":
        token = _sign(service, "client", 0)
        return _page(
            '<form name="client" method="post"><input type="text" id="client_name" name="client[name]">'
            '<input type="text" name="client[redirect_uris]"><button name="client[save]">Create</button>'
            f'<input type="hidden" id="client__token" name="client[_token]" value="{token}"></form>'
        )
    values = ("Android app", CLIENT_ID, CLIENT_SECRET)
    return _page("".join(f"<li>{name}<strong><pre>{name}</pre></strong></li>" for name in values))


def _page(body: str) -> Response:
    return HTMLResponse(f"{_HEAD}{body}</body></html>", headers=_NO_STORE)


def _base(request: Request) -> str:
    return f"{request.scope.get('root_path', '')}/wallabag"


def _sign(service: Service, purpose: str, value: int) -> str:
    return hmac.new(service.secret, f"wallabag {purpose} {value}".encode(), hashlib.sha256).hexdigest()


def _is_signed_in(request: Request, service: Service) -> bool:
    until, _, signature = request.cookies.get(_COOKIE, "").partition("-")
    if not until.isascii() or not until.isdigit() or len(until) > 12 or int(until) < time.time():
        return False
    return hmac.compare_digest(signature.encode(), _sign(service, "signed in", int(until)).encode())


about_router = APIRouter(prefix="/api")


@about_router.get("/version")
async def show_version() -> Response:
    """Return the version of wallabag whose API this is."""
    return Json(mapping.VERSION)


@about_router.get("/info")
async def show_info() -> Response:
    """Return the name and version."""
    return Json({"appname": "wallabag", "version": mapping.VERSION, "allowed_registration": False})


@about_router.get("/config")
async def show_config(_caller: ReadCaller) -> Response:
    """Return settings that some clients need to read an answer."""
    return Json(
        {
            "id": mapping.USER_ID,
            "items_per_page": 30,
            "language": "en",
            "feed_limit": 50,
            "reading_speed": 200,
            "action_mark_as_read": 1,
            "list_mode": 0,
        }
    )


@about_router.get("/user")
async def show_user(caller: ReadCaller) -> Response:
    """Return the user."""
    return Json({"id": mapping.USER_ID, "username": caller.name, "name": caller.name, "email": ""})
