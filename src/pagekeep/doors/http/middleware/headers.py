"""Security headers on every response, errors included: only our own scripts run, and no referrer is sent."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterator
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekeep.doors.http.errors import error_response, internal_error_response
from pagekeep.errors import ServerStopped

_log: Final = logging.getLogger("pagekeep.server")
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",  # plain-words: ok
    "Cache-Control": "private, no-cache",
}


def policy(nonce: str) -> str:
    """Return the content security policy of the reader."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; media-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-src 'self'; frame-ancestors 'none'"
    )


_PART_BYTES: Final = 262_144
"""The largest part of a body that is passed to the connection at once; the next waits until the client has read most of it."""


class SecurityHeaders:
    """Adds the headers a route did not set itself; templates find the nonce in `request.state.nonce`.

    It also handles unexpected errors: Starlette's own handler is outside of this middleware, so its response would have none.
    So it does with requests that are cancelled because the server stops and they take too long, which uvicorn answers with 500.
    """

    def __init__(
        self,
        app: ASGIApp,
        internal_error: Callable[[Scope], ASGIApp] = lambda _: internal_error_response(),
        stopped: Callable[[Scope], ASGIApp] = lambda _: error_response(ServerStopped("The server was stopped.")),
    ) -> None:
        self._app = app
        self._internal_error = internal_error
        self._stopped = stopped

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        nonce = secrets.token_urlsafe(16)
        scope.setdefault("state", {})["nonce"] = nonce

        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", policy(nonce))
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            for part in _parts(message):
                await send(part)

        try:
            await self._app(scope, receive, send_with_headers)
        except asyncio.CancelledError:
            if started:
                raise
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            await self._stopped(scope)(scope, receive, send_with_headers)
        except Exception:  # any error: it is logged, and its details are not shown
            if started:
                raise
            _log.exception("A route failed: %s", scope["method"])
            await self._internal_error(scope)(scope, receive, send_with_headers)


def _parts(message: Message) -> Iterator[Message]:
    """Yield a message, and a large body in parts: sent at once, it would be copied twice for its connection."""
    body = message.get("body", b"")
    if len(body) <= _PART_BYTES:
        yield message
        return
    view, more = memoryview(body), message.get("more_body", False)
    for start in range(0, len(body), _PART_BYTES):
        end = start + _PART_BYTES
        yield {**message, "body": bytes(view[start:end]), "more_body": more or end < len(body)}
