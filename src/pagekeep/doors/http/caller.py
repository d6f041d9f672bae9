"""Authentication: the caller of a request, by token, by session, or as the local user of a private server."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import Scope

from pagekeep.doors.http.middleware.origins import reject_cross_site
from pagekeep.doors.http.service import CurrentService, Service
from pagekeep.errors import NotAllowed, NotSignedIn
from pagekeep.identity import accounts, grants
from pagekeep.identity.accounts import SESSION_SECONDS
from pagekeep.library.open import Store
from pagekeep.model import DIALECTS, SCOPES
from pagekeep.model import Scope as TokenScope
from pagekeep.workers import Client, current_client

CSRF_HEADER: Final = "x-csrf-token"
CSRF_FIELD: Final = "csrf_token"
FORM_LIMITS: Final = {"max_files": 1, "max_fields": 20}
"""Limits of a form that a route reads itself. A form is parsed once, so every reader must use the same limits."""
_FORM_TYPES: Final = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})


def csrf_token(service: Service, session: str) -> str:
    """Return the session's CSRF token, which only our own pages know."""
    message = f"csrf {session}".encode("utf-8", "surrogatepass")
    return hmac.new(service.secret, message, hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated user or program."""

    user_id: str
    name: str
    scopes: frozenset[TokenScope]
    by: Literal["local", "session", "token"]
    csrf_token: str
    """Must be in every form of this caller; empty for a token, which browsers do not send automatically."""

    @property
    def client(self) -> Client:
        """The client whose share of the worker room is used: programs of a user and their own reading take turns."""
        return Client(self.user_id, self.by)


async def identify(request: Request, service: CurrentService) -> Caller:
    """Return the caller or raise `NotSignedIn`. Lookups in the accounts database run in a thread."""
    known = hasattr(request.state, "caller")
    if not known and ("authorization" in request.headers or (service.shared and session_of(request))):
        caller = await run_in_threadpool(identify_sync, request, service)
    else:
        caller = identify_sync(request, service)
    current_client.set(caller.client)
    return caller


async def require_caller(scope: Scope) -> str:
    """Return the ID of the user whom the headers of a request name, or raise `NotSignedIn`. The body is not read."""
    request = Request(scope)
    return (await identify(request, request.app.state.service)).user_id


def identify_sync(request: Request, service: Service) -> Caller:
    """Return the caller or raise `NotSignedIn`; may block. The caller is looked up once per request."""
    if not hasattr(request.state, "caller"):
        request.state.caller = _find_caller(request, service)
    caller: Caller = request.state.caller
    request.state.user_id = caller.user_id  # for the log
    return caller


def _find_caller(request: Request, service: Service) -> Caller:
    """Return the caller by token if one is sent, even if a cookie is sent too; an invalid token is an error."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    kind, dialect = kind.lower(), dialect_of(request.url.path)
    if kind == "bearer" and not service.shared and _ignores_keys(request.url.path):
        with suppress(NotSignedIn):  # clients of other services always send a key, if only a made-up one
            return _by_token(service, secret.strip(), dialect)
    elif kind == "bearer" or (kind == "token" and dialect == "linkding"):
        return _by_token(service, secret.strip(), dialect)
    if kind == "basic" and dialect == "opds":  # other schemes are for a proxy in front of the server
        return _by_basic(service, secret.strip(), dialect)
    reject_cross_site(request)
    if service.shared:
        return _by_session(service, session_of(request))
    return Caller(service.settings.user, "local", frozenset(SCOPES), "local", csrf_token(service, "local"))


def _ignores_keys(path: str) -> bool:
    """Return whether clients of Firecrawl or Jina Reader ask: an unknown key on a private server is ignored."""
    return path.startswith(("/v2/", "/r/", "/s/")) or path in ("/r", "/s")


def dialect_of(path: str) -> TokenScope | None:
    """Return the dialect whose routes are under the path's first part."""
    first = path.split("/", 2)[1:2]
    return next((name for name in DIALECTS if [name] == first), None)


def _by_token(service: Service, secret: str, dialect: TokenScope | None) -> Caller:
    local = None if service.shared else service.settings.user
    token, name = accounts.token_holder(service.accounts, secret, local=local)
    if token.dialect not in (None, dialect):
        raise NotAllowed(
            f"The token is only for {token.dialect}.", suggestions=("Create a token for this in the settings.",)
        )
    service.token_rates.take(token.id)
    return Caller(token.user_id, name, frozenset(token.scopes), "token", "")


def _by_basic(service: Service, sent: str, dialect: TokenScope) -> Caller:
    """Return the caller by a token sent as the password of HTTP Basic; passwords of accounts are too slow to check."""
    try:
        name, _, password = base64.b64decode(sent, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise NotSignedIn("The user name and password cannot be read.") from None
    local = None if service.shared else service.settings.user
    token = grants.check_app_password(service.accounts, dialect, name or None, password, local=local)
    service.token_rates.take(token.id)
    return Caller(token.user_id, name, frozenset(token.scopes), "token", "")


def _by_session(service: Service, session: str) -> Caller:
    user = accounts.session_user(service.accounts, session)
    if user is None:
        raise NotSignedIn("Not signed in.")
    return Caller(user.id, user.name, frozenset(SCOPES), "session", csrf_token(service, session))


async def require_read(caller: Annotated[Caller, Depends(identify)]) -> Caller:
    """Return a caller with the scope `read`."""
    if "read" not in caller.scopes:
        raise NotAllowed("The token lacks the scope `read`.")
    return caller


async def require_write(request: Request, caller: Annotated[Caller, Depends(identify)]) -> Caller:
    """Return a caller with the scope `write` and, for a session, a valid CSRF token."""
    if "write" not in caller.scopes:
        raise NotAllowed("The token is read-only.", suggestions=("Use a token with the scope `write`.",))
    if caller.by == "session":
        sent = request.headers.get(CSRF_HEADER) or await _csrf_field(request)
        if not hmac.compare_digest(sent.encode("utf-8", "surrogatepass"), caller.csrf_token.encode()):
            raise NotAllowed("The form has expired or comes from another site.", suggestions=("Reload the page.",))
    return caller


async def require_no_token(caller: Annotated[Caller, Depends(require_write)]) -> Caller:
    """Return a caller who does not use a token: a leaked token must not create others that outlast it."""
    refuse_token(caller, "This is not possible with a token.")
    return caller


def refuse_token(caller: Caller, message: str) -> None:
    """Raise `NotAllowed` with this message for a caller who uses a token."""
    if caller.by == "token":
        raise NotAllowed(message, suggestions=("Sign in with your password.",))


async def _csrf_field(request: Request) -> str:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() not in _FORM_TYPES:
        return ""
    value = (await request.form(**FORM_LIMITS)).get(CSRF_FIELD)
    return value if isinstance(value, str) else ""


async def library_to_read(
    service: CurrentService, caller: Annotated[Caller, Depends(require_read)]
) -> AsyncIterator[Store]:
    """Yield the caller's library, for reading; it stays open until the response is sent."""
    async with service.libraries.borrow(caller.user_id) as library:
        yield library


async def library_to_write(
    service: CurrentService, caller: Annotated[Caller, Depends(require_write)]
) -> AsyncIterator[Store]:
    """Yield the caller's library, for writing; it stays open until the response is sent."""
    async with service.libraries.borrow(caller.user_id) as library:
        yield library


# The types of route parameters.
ReadLibrary = Annotated[Store, Depends(library_to_read)]
WriteLibrary = Annotated[Store, Depends(library_to_write)]
ReadCaller = Annotated[Caller, Depends(require_read)]
CallerWithoutToken = Annotated[Caller, Depends(require_no_token)]

_PLAIN: Final = "pagekeep_session"
_SECURE: Final = f"__Host-{_PLAIN}"
"""Over HTTPS: browsers accept a cookie with this prefix only from this host, so other subdomains cannot set it."""


def session_of(request: Request) -> str:
    """Return the session's key; an empty string when there is none, or when there are several.

    Without HTTPS another subdomain can set a cookie of this name too, and with it the account that is used.
    """
    name, parts = _name(request), ";".join(request.headers.getlist("cookie")).split(";")
    keys = {key for part in parts if (key := cookie_parser(part).get(name))}
    return keys.pop() if len(keys) == 1 else ""


def set_session(response: Response, request: Request, session: str) -> None:
    """Set the cookie, hidden from scripts and from forms on other sites."""
    response.set_cookie(
        _name(request),
        session,
        max_age=int(SESSION_SECONDS),
        path="/",
        secure=_is_secure(request),
        httponly=True,
        samesite="lax",
    )


def drop_session(response: Response, request: Request) -> None:
    """Delete the cookie."""
    response.delete_cookie(_name(request), path="/", secure=_is_secure(request), httponly=True, samesite="lax")


def _name(request: Request) -> str:
    return _SECURE if _is_secure(request) else _PLAIN


def _is_secure(request: Request) -> bool:
    return request.url.scheme == "https"
