"""`/settings/tokens`: access tokens for programs, and app passwords; a new one is shown once, with a QR code."""

from __future__ import annotations

from typing import Annotated, Any

import segno
from fastapi import APIRouter, Depends, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup

from pagekeep import accounts
from pagekeep.doors.http.caller import require_no_token
from pagekeep.doors.http.errors import status_of
from pagekeep.doors.http.web.layout.page import Frame, ReadFrame, WriteFrame
from pagekeep.errors import PagekeepError
from pagekeep.model import DIALECTS, Scope, Token

router = APIRouter()


@router.get("/settings/tokens")
def tokens(frame: ReadFrame) -> HTMLResponse:
    """Show the user's tokens."""
    return _show_page(frame)


def _show_page(frame: Frame, *, status: int = 200, **values: Any) -> HTMLResponse:
    defaults = {"secret": None, "made": None, "problem": None}
    return frame.show(
        "settings/tokens.html",
        status=status,
        tokens=list_tokens(frame),
        dialects=DIALECTS,
        origin=str(frame.request.base_url).rstrip("/"),
        **{**defaults, **values},
    )


def list_tokens(frame: Frame) -> list[Token]:
    """Return the user's tokens; nothing for a caller with a token."""
    return [] if frame.caller.by == "token" else list(accounts.get_tokens(frame.service.accounts, frame.caller.user_id))


def draw_qr(text: str) -> Markup:
    """Return a QR code of the text as an SVG without styles."""
    code = segno.make(text, error="m", micro=False)
    return Markup(code.svg_inline(border=4, omitsize=True, svgclass="qr-code", lineclass=None))  # escaped by segno


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
    try:
        made = accounts.add_token(frame.service.accounts, frame.caller.user_id, name, scopes)
    except PagekeepError as error:
        return _show_page(frame, status=status_of(error), problem=error)
    response = _show_page(frame, secret=made.secret, made=made.token, qr=draw_qr(made.secret))
    response.headers["Cache-Control"] = "no-store"
    return response


@router.post("/settings/tokens/{token_id}/revoke", dependencies=[Depends(require_no_token)])
def revoke_token(frame: WriteFrame, token_id: str) -> Response:
    """Revoke a token."""
    accounts.revoke_token(frame.service.accounts, frame.caller.user_id, token_id)
    return RedirectResponse("/settings/tokens", 303)
