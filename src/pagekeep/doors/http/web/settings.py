"""`/settings`: appearance, account, access tokens and the bookmarklet."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep import accounts
from pagekeep.doors.http.caller import require_no_token
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.middleware.cookies import session_of, set_session
from pagekeep.doors.http.middleware.cross_site import own_path
from pagekeep.doors.http.web.layout.appearance import CHOICES, COOKIE, Appearance
from pagekeep.doors.http.web.layout.page import Frame, ReadFrame, WriteFrame
from pagekeep.errors import NotAllowed, PagekeepError
from pagekeep.model import DIALECTS, Scope, Session

router = APIRouter()
_YEAR_SECONDS: Final = 31_536_000


@router.get("/settings")
def settings(frame: ReadFrame, password: str = "") -> HTMLResponse:
    """Show the settings."""
    return _show_page(frame, changed=password == "changed")


def _show_page(frame: Frame, *, status: int = 200, **values: Any) -> HTMLResponse:
    defaults = {"secret": None, "problem": None, "changed": False}
    return frame.show(
        "settings.html",
        status=status,
        tokens=list_tokens(frame),
        dialects=DIALECTS,
        sessions=_list_sessions(frame),
        origin=str(frame.request.base_url).rstrip("/"),
        shared=frame.service.shared,
        min_password=accounts.MIN_PASSWORD_CHARS,
        **{**defaults, **values},
    )


def _list_sessions(frame: Frame) -> list[tuple[Session, bool]]:
    """Return the user's sessions and whether each is this one; nothing for callers who are not signed in."""
    if frame.caller.by != "session":
        return []
    current = session_of(frame.request)
    sessions = accounts.sessions(frame.service.accounts, frame.caller.user_id)
    return [(session, accounts.is_session(session, current)) for session in sessions]


def list_tokens(frame: Frame) -> list[object]:
    """Return the user's tokens; nothing for a caller with a token."""
    return [] if frame.caller.by == "token" else list(accounts.get_tokens(frame.service.accounts, frame.caller.user_id))


@router.post("/settings/look")
def set_appearance(
    frame: ReadFrame,
    theme: Annotated[str, Form()] = "",
    size: Annotated[str, Form()] = "",
    width: Annotated[str, Form()] = "",
    font: Annotated[str, Form()] = "",
    back: Annotated[str, Form()] = "/settings",
) -> Response:
    """Store the appearance in a cookie, for browsers without JavaScript."""
    submitted = {"theme": theme, "size": size, "width": width, "font": font}
    valid = {name: value for name, value in submitted.items() if value in CHOICES[name]}
    current = {name: getattr(frame.appearance, name) for name in CHOICES}
    response = RedirectResponse(own_path(back), 303)
    secure = frame.request.url.scheme == "https"
    # Our script also sets this cookie, so it is not HttpOnly; it contains no personal data.
    response.set_cookie(
        COOKIE, Appearance(**{**current, **valid}).to_cookie(), max_age=_YEAR_SECONDS, samesite="lax", secure=secure
    )
    return response


@router.post("/settings/tokens", dependencies=[Depends(require_no_token)])
def add_token(
    frame: WriteFrame,
    name: Annotated[str, Form(max_length=100)],
    scope: Annotated[str, Form()] = "write",
    dialect: Annotated[str, Form()] = "",
) -> HTMLResponse:
    """Create a token and show its secret once; with a dialect, it is an app password for that alone."""
    scopes: tuple[Scope, ...] = ("read",) if scope == "read" else ("read", "write")
    scopes += tuple(name for name in DIALECTS if name == dialect)
    made = accounts.add_token(frame.service.accounts, frame.caller.user_id, name, scopes)
    response = _show_page(frame, secret=made.secret)
    response.headers["Cache-Control"] = "no-store"
    return response


@router.post("/settings/tokens/{token_id}/revoke", dependencies=[Depends(require_no_token)])
def revoke_token(frame: WriteFrame, token_id: str) -> Response:
    """Revoke a token."""
    accounts.revoke_token(frame.service.accounts, frame.caller.user_id, token_id)
    return RedirectResponse("/settings#tokens", 303)


@router.post("/settings/password", dependencies=[Depends(require_no_token)])
def change_password(
    frame: WriteFrame,
    old: Annotated[str, Form(max_length=1_000)],
    new: Annotated[str, Form(max_length=1_000)],
    again: Annotated[str, Form(max_length=1_000)],
) -> Response:
    """Change the password and end all other sessions."""
    service, request = frame.service, frame.request
    address = request.client.host if request.client else ""
    try:
        if new != again:
            raise NotAllowed("The new passwords do not match.", suggestions=("Enter the same password twice.",))
        _, session = accounts.change_password(service.accounts, frame.caller.user_id, old, new, address)
    except PagekeepError as error:
        return _show_page(frame, status=status_of(error), problem=error)
    response = RedirectResponse("/settings?password=changed#account", 303)
    set_session(response, request, session)
    return response


@router.post("/settings/sessions/{key}/end", dependencies=[Depends(require_no_token)])
def end_session(frame: WriteFrame, key: str) -> Response:
    """End one session of the user."""
    accounts.end_session(frame.service.accounts, frame.caller.user_id, key)
    return RedirectResponse("/settings#account", 303)
