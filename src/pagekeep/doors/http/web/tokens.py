"""`/settings/tokens`: access tokens and app passwords; `/settings/extension` and `/pair`: connect the browser extension."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Final

import segno
from fastapi import APIRouter, Depends, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup

from pagekeep.doors.bundled import BROWSERS, Browser, bundled_folder, zip_package
from pagekeep.doors.http.caller import require_no_token
from pagekeep.doors.http.web.layout import Frame, ReadFrame, WriteFrame
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.identity import accounts, grants
from pagekeep.model import DIALECTS, Scope, Token

router = APIRouter()


@router.get("/settings/tokens")
def tokens(frame: ReadFrame) -> HTMLResponse:
    """Show the user's tokens."""
    return _show_tokens(frame)


def _show_tokens(frame: Frame, **values: Any) -> HTMLResponse:
    defaults = {"secret": None, "made": None, "problem": None}
    return frame.show(
        "settings/tokens.html",
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
        return _show_tokens(frame, problem=error)
    response = _show_tokens(frame, secret=made.secret, made=made.token, qr=draw_qr(made.secret))
    response.headers["Cache-Control"] = "no-store"
    return response


@router.post("/settings/tokens/{token_id}/revoke", dependencies=[Depends(require_no_token)])
def revoke_token(frame: WriteFrame, token_id: str) -> Response:
    """Revoke a token."""
    accounts.revoke_token(frame.service.accounts, frame.caller.user_id, token_id)
    return RedirectResponse("/settings/tokens", 303)


_NO_STORE: Final = {"Cache-Control": "no-store"}


@router.get("/settings/extension")
def extension_settings(frame: ReadFrame) -> HTMLResponse:
    """Show where to get the extension, how to connect it, and the bookmarklet."""
    return frame.show(
        "settings/extension.html",
        origin=str(frame.request.base_url).rstrip("/"),
        packages=BROWSERS if bundled_folder("extension") else (),
    )


@router.get("/settings/extension/{browser}.zip")
def download_extension(browser: Browser, frame: ReadFrame) -> Response:
    """Return the extension as a zip for a browser."""
    headers = {"Content-Disposition": f'attachment; filename="pagekeep-{browser}.zip"'}
    return Response(_package(browser), media_type="application/zip", headers=headers)


@cache
def _package(browser: Browser) -> bytes:
    source = bundled_folder("extension")
    if source is None:
        raise NotFound("The extension is not part of this installation.")
    return zip_package(source, browser)


@router.get("/pair")
def confirm_pairing(
    frame: ReadFrame,
    challenge: Annotated[str, Query(max_length=200)] = "",
    client: Annotated[str, Query(max_length=200)] = "",
) -> HTMLResponse:
    """Ask whether the extension that opened this page may use the library."""
    grants.check_challenge(challenge)
    browser = grants.browser_name(client)
    response = frame.show("pair.html", challenge=challenge, client=browser, shared=frame.service.shared)
    response.headers.update(_NO_STORE)
    return response


@router.post("/pair", dependencies=[Depends(require_no_token)])
def pair(
    frame: WriteFrame,
    challenge: Annotated[str, Form(max_length=200)] = "",
    client: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Hand a code to the extension: in the fragment of an address that only the extension and the user see."""
    code = grants.approve_pairing(frame.service.accounts, frame.caller.user_id, challenge, client)
    return RedirectResponse(f"/pair/done#code={code}", 303, _NO_STORE)


@router.get("/pair/done")
def pairing_done(frame: ReadFrame) -> HTMLResponse:
    """Show that the extension may now connect; it reads the code from the address of this page."""
    response = frame.show("pair_done.html")
    response.headers.update(_NO_STORE)
    return response
