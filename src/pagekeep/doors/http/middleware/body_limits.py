"""Limits for request bodies, enforced while they arrive: the declared length is not trusted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NoReturn

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekeep.doors.http.errors import error_response
from pagekeep.errors import PagekeepError, TooLarge, TooManyRequests

MAX_BODY_BYTES: Final = 30_000_000
"""Enough for a page of 10 MB written as JSON."""
MAX_TOTAL_BYTES: Final = 300_000_000
"""All bodies together."""
MAX_ANONYMOUS_BYTES: Final = 64_000
"""Of a body whose sender is not signed in, which includes the sign-in form (200 characters of name, 1,000 of password)."""
SIGN_IN_PATH: Final = "/sign-in"
MAX_BODY_SECONDS: Final = 120.0
MAX_FILE_SECONDS: Final = 3600.0
MAX_FILES: Final = 4
"""Large files uploaded at the same time; they are written to disk."""


class BodyLimits:
    """Rejects bodies that are too large, without reading them to the end, and bodies that arrive too slowly.

    `files` maps the paths that accept larger files to their limits. Their routes read the body themselves, after authentication
    and never as a whole into memory. `authenticate` raises an error when the headers of a request name no user: a large body
    of such a request is not read. `rejection` creates the response.
    """

    def __init__(
        self,
        app: ASGIApp,
        max_bytes: int = MAX_BODY_BYTES,
        max_total: int = MAX_TOTAL_BYTES,
        seconds: float = MAX_BODY_SECONDS,
        files: Mapping[str, int] = MappingProxyType({}),
        authenticate: Callable[[Scope], Awaitable[object]] | None = None,
        rejection: Callable[[Scope, PagekeepError], Response] = lambda _, error: error_response(error),
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._files = files
        self._authenticate = authenticate
        self._rejection = rejection
        self._in_memory = _Pool(max_total)
        self._on_disk = _Pool(MAX_FILES * max(files.values(), default=0))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limits = self._limits(scope["path"])
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        length = int(declared.lstrip(b"0")[:20] or b"0") if declared.isdigit() else None
        if length is None or length > limits.max_bytes:
            await self._reject(_TOO_LARGE, scope, receive, send)
            return
        if self._authenticate is not None and _may_be_large(scope, length):
            error = await self._check_sender(scope)
            if error is not None and length > MAX_ANONYMOUS_BYTES:
                await self._reject(error, scope, receive, send)
                return
            if error is not None:  # the length is not declared
                limits = replace(limits, max_bytes=MAX_ANONYMOUS_BYTES)
        body = _Body(limits, receive, send)
        try:
            await self._app(scope, body.receive, body.send)
        except _Rejected:
            pass
        finally:
            limits.pool.in_use -= body.read
        if body.error is not None and not body.started:
            await self._reject(body.error, scope, receive, send)

    async def _check_sender(self, scope: Scope) -> PagekeepError | None:
        """Return why a large body of this request is not accepted, from its headers alone."""
        if scope["path"] == SIGN_IN_PATH:
            return _TOO_LARGE
        assert self._authenticate is not None
        try:
            await self._authenticate(scope)
        except PagekeepError as error:
            return error
        return None

    async def _reject(self, error: PagekeepError, scope: Scope, receive: Receive, send: Send) -> None:
        response = self._rejection(scope, error)
        response.headers["connection"] = "close"
        await response(scope, receive, send)

    def _limits(self, path: str) -> _Limits:
        if path in self._files:
            return _Limits(self._files[path], MAX_FILE_SECONDS, self._on_disk)
        return _Limits(self._max_bytes, self._seconds, self._in_memory)


def _may_be_large(scope: Scope, declared: int) -> bool:
    """Return whether the body is larger than an anonymous one may be, or has no declared length."""
    return declared > MAX_ANONYMOUS_BYTES or any(name == b"transfer-encoding" for name, _ in scope["headers"])


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
