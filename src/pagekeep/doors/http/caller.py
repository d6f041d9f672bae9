"""Who asks: by token, by session, or because the server is this machine's alone."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from fastapi import Depends, Request

from pagekeep.app import moments
from pagekeep.doors.http.service import Service, service_of
from pagekeep.errors import NotAllowed, NotSignedIn
from pagekeep.model import SCOPES, Scope
from pagekeep.store import LOCAL_USER, Store

SESSION_COOKIE: Final = "pagekeep_session"
CSRF_HEADER: Final = "x-csrf-token"
CSRF_FIELD: Final = "csrf_token"
_USED_EVERY: Final = 60.0
"""Seconds after which it is noted again that a token was used."""
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone who may use a library."""

    user_id: str
    name: str
    scopes: frozenset[Scope]
    by: Literal["local", "session", "token"]
    csrf_token: str
    """What a form must carry to be taken for this caller's own; empty for a token, which no browser sends by itself."""


def digest(secret: str) -> str:
    """How a token or session key is kept: whoever sees the database cannot use it. They are random and long, so a plain
    hash is enough."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def csrf_token(service: Service, session: str) -> str:
    """Bound to the session, and known to pages of ours alone."""
    return hmac.new(service.secret, f"csrf {session}".encode(), hashlib.sha256).hexdigest()


def who(request: Request, service: Annotated[Service, Depends(service_of)]) -> Caller:
    """The caller; `NotSignedIn` when nobody can be told."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and token.strip():
        return _by_token(service, token.strip())
    session = request.cookies.get(SESSION_COOKIE, "")
    if service.shared:
        return _by_session(service, session)
    _refuse_other_sites(request)
    return Caller(LOCAL_USER, "local", frozenset(SCOPES), "local", csrf_token(service, "local"))


def _by_token(service: Service, secret: str) -> Caller:
    now = moments.now()
    token = service.accounts.token(digest(secret), now)
    if token is None:
        raise NotSignedIn("The token is not known, or is good no more.")
    user = service.accounts.user(token.user_id) if service.shared else None
    if service.shared and (user is None or user.disabled):
        raise NotSignedIn("The token's user may not sign in.")
    if token.last_used_at is None or moments.after(token.last_used_at, _USED_EVERY) < now:
        service.accounts.mark_used(token.id, now)
    return Caller(token.user_id, user.name if user else "local", frozenset(token.scopes), "token", "")


def _by_session(service: Service, session: str) -> Caller:
    user = service.accounts.session_user(digest(session), moments.now()) if session else None
    if user is None:
        raise NotSignedIn("Nobody is signed in.")
    return Caller(user.id, user.name, frozenset(SCOPES), "session", csrf_token(service, session))


def _refuse_other_sites(request: Request) -> None:
    """Any page in the user's browser can send requests here; what it sends says where it comes from."""
    site = request.headers.get("sec-fetch-site", "none")
    navigating = request.headers.get("sec-fetch-mode") == "navigate" and request.method in _SAFE
    if site not in ("same-origin", "none") and not navigating:
        raise NotAllowed("The request comes from another site.")
    origin = request.headers.get("origin")
    if origin is not None and origin != f"{request.url.scheme}://{request.headers.get('host', '')}":
        raise NotAllowed("The request comes from another site.")


def may_read(caller: Annotated[Caller, Depends(who)]) -> Caller:
    """Someone who may look."""
    if "read" not in caller.scopes:
        raise NotAllowed("The token may not read.")
    return caller


async def may_write(request: Request, caller: Annotated[Caller, Depends(who)]) -> Caller:
    """Someone who may change things, and meant to."""
    if "write" not in caller.scopes:
        raise NotAllowed("The token may only read.", suggestions=("Use one with the scope `write`.",))
    if caller.by == "session":
        given = request.headers.get(CSRF_HEADER) or await _form_field(request)
        if not hmac.compare_digest(given.encode(), caller.csrf_token.encode()):
            raise NotAllowed("The form is not from this site, or too old.", suggestions=("Reload the page.",))
    return caller


async def _form_field(request: Request) -> str:
    kind = request.headers.get("content-type", "").partition(";")[0]
    if kind not in ("application/x-www-form-urlencoded", "multipart/form-data"):
        return ""
    value = (await request.form()).get(CSRF_FIELD)
    return value if isinstance(value, str) else ""


def own_library(
    service: Annotated[Service, Depends(service_of)], caller: Annotated[Caller, Depends(may_read)]
) -> Store:
    """The caller's library, to look at."""
    return service.library(caller.user_id)


def own_library_to_change(
    service: Annotated[Service, Depends(service_of)], caller: Annotated[Caller, Depends(may_write)]
) -> Store:
    """The caller's library, to change."""
    return service.library(caller.user_id)


Reads = Annotated[Store, Depends(own_library)]
Changes = Annotated[Store, Depends(own_library_to_change)]
"""What a route that looks or changes takes as its `library`."""
