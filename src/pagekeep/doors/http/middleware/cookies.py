"""The cookie that says who is signed in."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from pagekeep.accounts import SESSION_SECONDS

_PLAIN: Final = "pagekeep_session"
_SECURE: Final = f"__Host-{_PLAIN}"
"""Over HTTPS: browsers take a cookie of this name from this very host alone, so no neighbour can plant a session of theirs."""


def session_of(request: Request) -> str:
    """The key of the session, or nothing."""
    return request.cookies.get(_name(request), "")


def set_session(response: Response, request: Request, session: str) -> None:
    """Let the browser keep the key, out of reach of scripts and of forms on other sites."""
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
    """Let the browser forget the key."""
    response.delete_cookie(_name(request), path="/", secure=_is_secure(request), httponly=True, samesite="lax")


def _name(request: Request) -> str:
    return _SECURE if _is_secure(request) else _PLAIN


def _is_secure(request: Request) -> bool:
    return request.url.scheme == "https"
