"""Who asks: by token, by session, or because the server is this machine's alone."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from pagekeep import accounts
from pagekeep.doors.http.middleware.cookies import session_of
from pagekeep.doors.http.middleware.cross_site import refuse_other_sites
from pagekeep.doors.http.service import Service, service_of
from pagekeep.errors import NotAllowed, NotSignedIn
from pagekeep.library.open import Store
from pagekeep.model import SCOPES, Scope

CSRF_HEADER: Final = "x-csrf-token"
CSRF_FIELD: Final = "csrf_token"
FORM_BOUNDS: Final = {"max_files": 1, "max_fields": 20}
"""Of a form that a route reads itself. It is read once, so whoever comes first must name the same bounds."""
_FORMS: Final = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone who may use a library."""

    user_id: str
    name: str
    scopes: frozenset[Scope]
    by: Literal["local", "session", "token"]
    csrf_token: str
    """What a form must carry to be taken for this caller's own; empty for a token, which no browser sends by itself."""


def csrf_token(service: Service, session: str) -> str:
    """Bound to the session, and known to pages of ours alone."""
    said = f"csrf {session}".encode("utf-8", "surrogatepass")
    return hmac.new(service.secret, said, hashlib.sha256).hexdigest()


async def asking(request: Request, service: Annotated[Service, Depends(service_of)]) -> Caller:
    """The caller; `NotSignedIn` when nobody can be told. Those whom the accounts must tell are looked up in a thread."""
    local = not service.shared and "authorization" not in request.headers
    return who(request, service) if local else await run_in_threadpool(who, request, service)


def who(request: Request, service: Service) -> Caller:
    """The same where one may wait."""
    caller = _who(request, service)
    request.state.user_id = caller.user_id  # for the log
    return caller


def _who(request: Request, service: Service) -> Caller:
    """A token that is sent is what counts: a bad one is no reason to look for a cookie."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":  # other kinds are for a proxy in front of us
        return _by_token(service, secret.strip())
    refuse_other_sites(request)
    if service.shared:
        return _by_session(service, session_of(request))
    return Caller(service.settings.user, "local", frozenset(SCOPES), "local", csrf_token(service, "local"))


def _by_token(service: Service, secret: str) -> Caller:
    local = None if service.shared else service.settings.user
    token, name = accounts.token_holder(service.accounts, secret, local=local)
    return Caller(token.user_id, name, frozenset(token.scopes), "token", "")


def _by_session(service: Service, session: str) -> Caller:
    user = accounts.session_user(service.accounts, session)
    if user is None:
        raise NotSignedIn("Nobody is signed in.")
    return Caller(user.id, user.name, frozenset(SCOPES), "session", csrf_token(service, session))


async def may_read(caller: Annotated[Caller, Depends(asking)]) -> Caller:
    """Someone who may look."""
    if "read" not in caller.scopes:
        raise NotAllowed("The token may not read.")
    return caller


async def may_write(request: Request, caller: Annotated[Caller, Depends(asking)]) -> Caller:
    """Someone who may change things, and meant to."""
    if "write" not in caller.scopes:
        raise NotAllowed("The token may only read.", suggestions=("Use one with the scope `write`.",))
    if caller.by == "session":
        given = request.headers.get(CSRF_HEADER) or await _form_field(request)
        if not hmac.compare_digest(given.encode("utf-8", "surrogatepass"), caller.csrf_token.encode()):
            raise NotAllowed("The form is not from this site, or too old.", suggestions=("Reload the page.",))
    return caller


async def in_person(caller: Annotated[Caller, Depends(may_write)]) -> Caller:
    """Someone who is there and means it: a token that leaked must not make others that outlast it."""
    if caller.by == "token":
        raise NotAllowed("No token may do this.", suggestions=("Sign in.",))
    return caller


async def _form_field(request: Request) -> str:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() not in _FORMS:
        return ""
    value = (await request.form(**FORM_BOUNDS)).get(CSRF_FIELD)
    return value if isinstance(value, str) else ""


async def own_library(
    service: Annotated[Service, Depends(service_of)], caller: Annotated[Caller, Depends(may_read)]
) -> AsyncIterator[Store]:
    """The caller's library, to look at; theirs until the answer is sent."""
    async with service.libraries.borrowed(caller.user_id) as library:
        yield library


async def own_library_to_change(
    service: Annotated[Service, Depends(service_of)], caller: Annotated[Caller, Depends(may_write)]
) -> AsyncIterator[Store]:
    """The caller's library, to change; theirs until the answer is sent."""
    async with service.libraries.borrowed(caller.user_id) as library:
        yield library


Reads = Annotated[Store, Depends(own_library)]
Changes = Annotated[Store, Depends(own_library_to_change)]
"""What a route that looks or changes takes as its `library`."""
Person = Annotated[Caller, Depends(in_person)]
"""What a route that no token may use takes as its `caller`."""
