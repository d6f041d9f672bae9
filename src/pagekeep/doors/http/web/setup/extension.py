"""`/settings/extension`: where to get the browser extension; `/pair`: connect it by one click, without typing a token."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep import pairing
from pagekeep.doors.bundled import bundled_folder
from pagekeep.doors.extension_package import BROWSERS, Browser, zip_package
from pagekeep.doors.http.caller import require_no_token
from pagekeep.doors.http.web.layout.page import ReadFrame, WriteFrame
from pagekeep.errors import NotFound

router = APIRouter()
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
    pairing.check_challenge(challenge)
    browser = pairing.browser_name(client)
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
    code = pairing.approve(frame.service.accounts, frame.caller.user_id, challenge, client)
    return RedirectResponse(f"/pair/done#code={code}", 303, _NO_STORE)


@router.get("/pair/done")
def pairing_done(frame: ReadFrame) -> HTMLResponse:
    """Show that the extension may now connect; it reads the code from the address of this page."""
    response = frame.show("pair_done.html")
    response.headers.update(_NO_STORE)
    return response
