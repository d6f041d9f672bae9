"""The session cookie."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request, cookie_parser
from starlette.responses import Response

from pagekeep.accounts import SESSION_SECONDS

_PLAIN: Final = "pagekeep_session"
_SECURE: Final = f"__Host-{_PLAIN}"
"""Over HTTPS: browsers accept a cookie with this prefix only from this host, so other subdomains cannot set it."""


def session_of(request: Request) -> str:
    """Return the session's key; an empty string when there is none, or when there are several.

    Without HTTPS another subdomain can set a cookie of this name too, and with it the account that is used.
    """
    name, parts = _name(request), ";".join(request.headers.getlist("cookie")).split(";")
    keys = {key for part in parts if (key := cookie_parser(part).get(name))}
    return keys.pop() if len(keys) == 1 else ""


def set_session(response: Response, request: Request, session: str) -> None:
    """Set the cookie, hidden from scripts and from forms on other sites."""
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
    """Delete the cookie."""
    response.delete_cookie(_name(request), path="/", secure=_is_secure(request), httponly=True, samesite="lax")


def _name(request: Request) -> str:
    return _SECURE if _is_secure(request) else _PLAIN


def _is_secure(request: Request) -> bool:
    return request.url.scheme == "https"
