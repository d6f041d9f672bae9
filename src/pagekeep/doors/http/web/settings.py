"""`/settings`: the look, the account, tokens for programs, the bookmarklet."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep import accounts
from pagekeep.doors.http.caller import in_person
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.middleware.cookies import session_of, set_session
from pagekeep.doors.http.middleware.cross_site import own_path
from pagekeep.doors.http.web.layout.appearance import CHOICES, COOKIE, Look
from pagekeep.doors.http.web.layout.page import Changing, Frame, Looking
from pagekeep.errors import NotAllowed, PagekeepError
from pagekeep.model import Scope, Session

router = APIRouter()
_YEAR = 31_536_000


@router.get("/settings")
def settings(frame: Looking, password: str = "") -> HTMLResponse:
    """What can be chosen."""
    return _shown(frame, changed=password == "changed")


def _shown(frame: Frame, *, status: int = 200, **values: Any) -> HTMLResponse:
    plain = {"secret": None, "problem": None, "changed": False}
    return frame.show(
        "settings.html",
        status=status,
        tokens=accounts_of(frame),
        sessions=_sessions(frame),
        origin=str(frame.request.base_url).rstrip("/"),
        shared=frame.service.shared,
        shortest=accounts.SHORTEST_PASSWORD,
        **{**plain, **values},
    )


def _sessions(frame: Frame) -> list[tuple[Session, bool]]:
    """Where the reader is signed in, and whether it is here; for those who signed in, and no program of theirs."""
    if frame.caller.by != "session":
        return []
    here = session_of(frame.request)
    found = accounts.sessions(frame.service.accounts, frame.caller.user_id)
    return [(session, accounts.is_session(session, here)) for session in found]


def accounts_of(frame: Frame) -> list[object]:
    """The reader's tokens; whoever comes with one of them sees none."""
    return [] if frame.caller.by == "token" else list(frame.service.accounts.tokens(frame.caller.user_id))


@router.post("/settings/look")
def choose(
    frame: Looking,
    theme: Annotated[str, Form()] = "",
    size: Annotated[str, Form()] = "",
    width: Annotated[str, Form()] = "",
    face: Annotated[str, Form()] = "",
    back: Annotated[str, Form()] = "/settings",
) -> Response:
    """The look without our script: it is kept in the browser alone, so nothing is changed here."""
    given = {"theme": theme, "size": size, "width": width, "face": face}
    known = {name: value for name, value in given.items() if value in CHOICES[name]}
    now = {name: getattr(frame.look, name) for name in CHOICES}
    response = RedirectResponse(own_path(back), 303)
    secure = frame.request.url.scheme == "https"
    # Our script sets it too, so it is not kept from scripts; it says nothing but which colours someone likes.
    response.set_cookie(COOKIE, Look(**{**now, **known}).written(), max_age=_YEAR, samesite="lax", secure=secure)
    return response


@router.post("/settings/tokens", dependencies=[Depends(in_person)])
def add_token(
    frame: Changing,
    name: Annotated[str, Form(max_length=100)],
    scope: Annotated[str, Form()] = "write",
) -> HTMLResponse:
    """A new token, shown this once."""
    scopes: tuple[Scope, ...] = ("read",) if scope == "read" else ("read", "write")
    made = accounts.add_token(frame.service.accounts, frame.caller.user_id, name, scopes)
    response = _shown(frame, secret=made.secret)
    response.headers["Cache-Control"] = "no-store"
    return response


@router.post("/settings/tokens/{token_id}/revoke", dependencies=[Depends(in_person)])
def revoke_token(frame: Changing, token_id: str) -> Response:
    """A token is good no more."""
    accounts.revoke_token(frame.service.accounts, frame.caller.user_id, token_id)
    return RedirectResponse("/settings#tokens", 303)


@router.post("/settings/password", dependencies=[Depends(in_person)])
def change_password(
    frame: Changing,
    old: Annotated[str, Form(max_length=1_000)],
    new: Annotated[str, Form(max_length=1_000)],
    again: Annotated[str, Form(max_length=1_000)],
) -> Response:
    """Another password; whoever is signed in elsewhere is so no more."""
    service, request = frame.service, frame.request
    address = request.client.host if request.client else ""
    try:
        if new != again:
            raise NotAllowed("The two new passwords differ.", suggestions=("Write the same one twice.",))
        _, session = accounts.change_password(service.accounts, frame.caller.user_id, old, new, address)
    except PagekeepError as error:
        return _shown(frame, status=status_of(error), problem=error)
    response = RedirectResponse("/settings?password=changed#account", 303)
    set_session(response, request, session)
    return response


@router.post("/settings/sessions/{key}/end", dependencies=[Depends(in_person)])
def end_session(frame: Changing, key: str) -> Response:
    """Signed out somewhere else, or here."""
    accounts.end_session(frame.service.accounts, frame.caller.user_id, key)
    return RedirectResponse("/settings#account", 303)
