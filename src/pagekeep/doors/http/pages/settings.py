"""`/settings`: the look, tokens for programs, the bookmarklet."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.app import accounts
from pagekeep.doors.http.caller import in_person
from pagekeep.doors.http.pages.frame import Changing, Frame, Looking
from pagekeep.doors.http.pages.look import CHOICES, COOKIE, Look
from pagekeep.doors.http.security.sites import own_path
from pagekeep.model import Scope

router = APIRouter()
_YEAR = 31_536_000


@router.get("/settings")
def settings(frame: Looking) -> HTMLResponse:
    """What can be chosen."""
    return _shown(frame)


def _shown(frame: Frame, secret: str | None = None) -> HTMLResponse:
    return frame.show(
        "settings.html",
        tokens=accounts_of(frame),
        secret=secret,
        origin=str(frame.request.base_url).rstrip("/"),
        shared=frame.service.shared,
    )


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
    response = _shown(frame, made.secret)
    response.headers["Cache-Control"] = "no-store"
    return response


@router.post("/settings/tokens/{token_id}/revoke", dependencies=[Depends(in_person)])
def revoke_token(frame: Changing, token_id: str) -> Response:
    """A token is good no more."""
    accounts.revoke_token(frame.service.accounts, frame.caller.user_id, token_id)
    return RedirectResponse("/settings#tokens", 303)
