"""Limits for request bodies, enforced while they arrive: the declared length is not trusted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NoReturn

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekeep.doors.http.errors import error_response
from pagekeep.errors import PagekeepError, TooLarge, TooManyRequests

MAX_BODY_BYTES: Final = 30_000_000
"""Enough for a page of 10 MB written as JSON."""
MAX_TOTAL_BYTES: Final = 300_000_000
"""All bodies together: they are accepted before the caller is authenticated."""
MAX_BODY_SECONDS: Final = 120.0
MAX_FILE_SECONDS: Final = 3600.0
MAX_FILES: Final = 4
"""Large files uploaded at the same time; they are written to disk."""


class BodyLimits:
    """Rejects bodies that are too large, without reading them to the end, and bodies that arrive too slowly.

    `files` maps the paths that accept larger files to their limits. Their routes read the body themselves, after authentication
    and never as a whole into memory. `rejection` creates the response.
    """

    def __init__(
        self,
        app: ASGIApp,
        max_bytes: int = MAX_BODY_BYTES,
        max_total: int = MAX_TOTAL_BYTES,
        seconds: float = MAX_BODY_SECONDS,
        files: Mapping[str, int] = MappingProxyType({}),
        rejection: Callable[[Scope, PagekeepError], Response] = lambda _, error: error_response(error),
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._files = files
        self._rejection = rejection
        self._in_memory = _Pool(max_total)
        self._on_disk = _Pool(MAX_FILES * max(files.values(), default=0))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limits = self._limits(scope["path"])
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared[:20]) > limits.max_bytes:
            await self._reject(_TOO_LARGE, scope, receive, send)
            return
        body = _Body(limits, receive, send)
        try:
            await self._app(scope, body.receive, body.send)
        except _Rejected:
            pass
        finally:
            limits.pool.in_use -= body.read
        if body.error is not None and not body.started:
            await self._reject(body.error, scope, receive, send)

    async def _reject(self, error: PagekeepError, scope: Scope, receive: Receive, send: Send) -> None:
        response = self._rejection(scope, error)
        response.headers["connection"] = "close"
        await response(scope, receive, send)

    def _limits(self, path: str) -> _Limits:
        if path in self._files:
            return _Limits(self._files[path], MAX_FILE_SECONDS, self._on_disk)
        return _Limits(self._max_bytes, self._seconds, self._in_memory)


@dataclass(slots=True)
class _Pool:
    """Bytes of all bodies that share a limit."""

    max_bytes: int
    in_use: int = 0


@dataclass(frozen=True, slots=True)
class _Limits:
    """Limits of one body."""

    max_bytes: int
    seconds: float
    pool: _Pool

    def check(self, length: int, read: int) -> PagekeepError | None:
        """Count the bytes that arrived last; return the error if they are too many."""
        self.pool.in_use += length
        if read > self.max_bytes:
            return _TOO_LARGE
        return _BUSY if self.pool.in_use > self.pool.max_bytes else None

    def deadline(self) -> float:
        """Return the time by which a body that starts now must be complete."""
        return asyncio.get_running_loop().time() + self.seconds


class _Body:
    """One request body, and whether its response has started."""

    def __init__(self, limits: _Limits, receive: Receive, send: Send) -> None:
        self._limits = limits
        self._receive = receive
        self._send = send
        self._deadline = limits.deadline()
        self._complete = False
        self.read = 0
        self.started = False
        self.error: PagekeepError | None = None

    async def receive(self) -> Message:
        """Return the next part; after the last one, the disconnect message, without a time limit."""
        try:
            async with asyncio.timeout_at(None if self._complete else self._deadline):
                message = await self._receive()
        except TimeoutError:
            self._fail(_SLOW)
        self._complete = not message.get("more_body", False)
        length = len(message.get("body", b""))
        self.read += length
        error = self._limits.check(length, self.read)
        if error is not None:
            self._fail(error)
        return message

    def _fail(self, error: PagekeepError) -> NoReturn:
        self.error = error
        raise _Rejected

    async def send(self, message: Message) -> None:
        """Drop the route's response to a body that was rejected halfway; the rejection is sent instead."""
        if self.error is not None and not self.started:
            return
        self.started = True
        await self._send(message)


class _Rejected(Exception):
    """The body was rejected. The route may catch this and respond anyway: see `_Body.send`."""


_TOO_LARGE: Final = TooLarge("The request is too large.")
_BUSY: Final = TooManyRequests("The server is busy.", suggestions=("Try again in a moment.",))
_SLOW: Final = TooManyRequests("The request took too long to arrive.", suggestions=("Try again.",))
