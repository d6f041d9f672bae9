"""Headers on every answer, errors included: nothing but our own script runs, and nobody is told where a reader came from."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekeep.doors.http.errors import unexpected_answer

_log: Final = logging.getLogger("pagekeep.server")
_ALWAYS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "private, no-cache",
}


def policy(nonce: str) -> str:
    """The content security policy of our own pages."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; media-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-src 'self'; frame-ancestors 'none'"
    )


class SafeHeaders:
    """Puts the headers on; templates find the nonce in `request.state.nonce`. A route that set a header keeps its own.

    It also answers for routes that fail in a way nobody thought of: what answers for them otherwise stands further out, where
    no header is put on.
    """

    def __init__(self, app: ASGIApp, unexpected: Callable[[Scope], ASGIApp] = lambda _: unexpected_answer()) -> None:
        self._app = app
        self._unexpected = unexpected

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        nonce = secrets.token_urlsafe(16)
        scope.setdefault("state", {})["nonce"] = nonce

        begun = False

        async def dressed(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", policy(nonce))
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._app(scope, receive, dressed)
        except Exception:  # whatever it is: it is logged, and the reader is told no more than that it happened
            if begun:
                raise
            _log.exception("A route failed: %s", scope["method"])
            await self._unexpected(scope)(scope, receive, dressed)
