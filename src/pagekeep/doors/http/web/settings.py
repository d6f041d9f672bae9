"""`/settings`: appearance and account."""

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
from pagekeep.model import Session

router = APIRouter()
_YEAR_SECONDS: Final = 31_536_000


@router.get("/settings")
def settings(frame: ReadFrame) -> HTMLResponse:
    """Show the appearance, and where the other settings are."""
    return frame.show("settings/appearance.html")


@router.get("/settings/account")
def account(frame: ReadFrame, password: str = "") -> HTMLResponse:
    """Show the account: password and sessions."""
    return _show_account(frame, changed=password == "changed")


def _show_account(frame: Frame, *, status: int = 200, **values: Any) -> HTMLResponse:
    return frame.show(
        "settings/account.html",
        status=status,
        sessions=_list_sessions(frame),
        shared=frame.service.shared,
        min_password=accounts.MIN_PASSWORD_CHARS,
        **{"problem": None, "changed": False, **values},
    )


def _list_sessions(frame: Frame) -> list[tuple[Session, bool]]:
    """Return the user's sessions and whether each is this one; nothing for callers who are not signed in."""
    if frame.caller.by != "session":
        return []
    current = session_of(frame.request)
    sessions = accounts.sessions(frame.service.accounts, frame.caller.user_id)
    return [(session, accounts.is_session(session, current)) for session in sessions]


@router.post("/settings/look")
def set_appearance(
    frame: WriteFrame,
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
        return _show_account(frame, status=status_of(error), problem=error)
    response = RedirectResponse("/settings/account?password=changed", 303)
    set_session(response, request, session)
    return response


@router.post("/settings/sessions/{key}/end", dependencies=[Depends(require_no_token)])
def end_session(frame: WriteFrame, key: str) -> Response:
    """End one session of the user."""
    accounts.end_session(frame.service.accounts, frame.caller.user_id, key)
    return RedirectResponse("/settings/account", 303)
