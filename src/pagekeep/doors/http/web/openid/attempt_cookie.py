"""The cookie of a sign-in that has begun: it ties the provider's answer to the browser in which it began."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from dataclasses import asdict
from typing import Final

from fastapi import Request
from fastapi.responses import Response

from pagekeep.openid.provider import Attempt

MAX_SECONDS: Final = 600
"""Time for signing in at the provider."""
_PLAIN: Final = "pagekeep_openid"
_SECURE: Final = f"__Host-{_PLAIN}"


def set_attempt(response: Response, request: Request, attempt: Attempt, secret: bytes) -> None:
    """Set the cookie, signed; hidden from scripts, and sent when the provider leads back."""
    content = json.dumps({**asdict(attempt), "until": time.time() + MAX_SECONDS}, separators=(",", ":")).encode()
    encoded = base64.urlsafe_b64encode(content).decode().rstrip("=")  # which would have to be quoted
    value = f"{encoded}.{_sign(content, secret)}"
    is_secure = request.url.scheme == "https"
    response.set_cookie(
        _name(request), value, max_age=MAX_SECONDS, path="/", secure=is_secure, httponly=True, samesite="lax"
    )


def attempt_of(request: Request, secret: bytes) -> Attempt | None:
    """Return the attempt that this browser began, unless that was too long ago."""
    encoded, _, signature = request.cookies.get(_name(request), "").partition(".")
    try:
        content = base64.urlsafe_b64decode(encoded.encode("ascii") + b"=" * (-len(encoded) % 4))
    except ValueError:
        return None
    if not hmac.compare_digest(signature.encode("utf-8", "replace"), _sign(content, secret).encode()):
        return None
    found = json.loads(content)  # our own
    until = found.pop("until")
    return Attempt(**found) if until > time.time() else None


def drop_attempt(response: Response, request: Request) -> None:
    """Delete the cookie: it is used once."""
    is_secure = request.url.scheme == "https"
    response.delete_cookie(_name(request), path="/", secure=is_secure, httponly=True, samesite="lax")


def _name(request: Request) -> str:
    return _SECURE if request.url.scheme == "https" else _PLAIN


def _sign(content: bytes, secret: bytes) -> str:
    return hmac.new(secret, b"openid " + content, hashlib.sha256).hexdigest()
