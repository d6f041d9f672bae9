"""Bodies have limits, kept while they come in: what they say of their length is not believed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NoReturn

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekeep.doors.http.errors import error_answer
from pagekeep.errors import PagekeepError, TooLarge, TooManyRequests

MOST_BYTES: Final = 30_000_000
"""A page of 10 MB, written as JSON."""
MOST_IN_ALL: Final = 300_000_000
"""Of all bodies that are in hand: they are taken before it is known who sends them."""
SLOWEST_SECONDS: Final = 120.0
SLOWEST_FILE_SECONDS: Final = 3600.0
FILES_AT_A_TIME: Final = 4
"""Large files on their way to the disk."""


class BoundedBodies:
    """Answers 413 to a body that is too large, without reading it to its end, and gives up on one that does not come.

    `files` are the paths that take larger ones, with their bounds. Their routes read the body themselves, once they know who
    sends it, and never whole into memory. `refused` makes the answer.
    """

    def __init__(
        self,
        app: ASGIApp,
        most: int = MOST_BYTES,
        most_in_all: int = MOST_IN_ALL,
        seconds: float = SLOWEST_SECONDS,
        files: Mapping[str, int] = MappingProxyType({}),
        refused: Callable[[Scope, PagekeepError], Response] = lambda _, error: error_answer(error),
    ) -> None:
        self._app = app
        self._most = most
        self._seconds = seconds
        self._files = files
        self._refused = refused
        self._in_memory = _Pool(most_in_all)
        self._on_disk = _Pool(FILES_AT_A_TIME * max(files.values(), default=0))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        bounds = self._bounds(scope["path"])
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared[:20]) > bounds.most:
            await self._refuse(_TOO_LARGE, scope, receive, send)
            return
        body = _Body(bounds, receive, send)
        try:
            await self._app(scope, body.receive, body.send)
        except _Refused:
            pass
        finally:
            bounds.pool.in_hand -= body.read
        if body.error is not None and not body.begun:
            await self._refuse(body.error, scope, receive, send)

    async def _refuse(self, error: PagekeepError, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._refused(scope, error)
        answer.headers["connection"] = "close"
        await answer(scope, receive, send)

    def _bounds(self, path: str) -> _Bounds:
        if path in self._files:
            return _Bounds(self._files[path], SLOWEST_FILE_SECONDS, self._on_disk)
        return _Bounds(self._most, self._seconds, self._in_memory)


@dataclass(slots=True)
class _Pool:
    """Bytes of all bodies of a kind that are in hand."""

    most: int
    in_hand: int = 0


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Of one body."""

    most: int
    seconds: float
    pool: _Pool

    def refusal(self, length: int, read: int) -> PagekeepError | None:
        """Why the bytes that came last are too many, if they are."""
        self.pool.in_hand += length
        if read > self.most:
            return _TOO_LARGE
        return _BUSY if self.pool.in_hand > self.pool.most else None

    def deadline(self) -> float:
        """When a body that begins now must be there."""
        return asyncio.get_running_loop().time() + self.seconds


class _Body:
    """One body on its way in, and whether the answer is on its way out."""

    def __init__(self, bounds: _Bounds, receive: Receive, send: Send) -> None:
        self._bounds = bounds
        self._receive = receive
        self._send = send
        self._until = bounds.deadline()
        self._complete = False
        self.read = 0
        self.begun = False
        self.error: PagekeepError | None = None

    async def receive(self) -> Message:
        """The next part; once the body is there, news of the client's leaving, for which one may wait for ever."""
        try:
            async with asyncio.timeout_at(None if self._complete else self._until):
                message = await self._receive()
        except TimeoutError:
            self._fail(_SLOW)
        self._complete = not message.get("more_body", False)
        length = len(message.get("body", b""))
        self.read += length
        error = self._bounds.refusal(length, self.read)
        if error is not None:
            self._fail(error)
        return message

    def _fail(self, error: PagekeepError) -> NoReturn:
        self.error = error
        raise _Refused

    async def send(self, message: Message) -> None:
        """What a route makes of a body that was refused half-way is not sent: the refusal is."""
        if self.error is not None and not self.begun:
            return
        self.begun = True
        await self._send(message)


class _Refused(Exception):
    """The body is not wanted. Whoever reads it may take this for a fault of their own, and answer: see `_Body.send`."""


_TOO_LARGE: Final = TooLarge("The request is larger than the server takes.")
_BUSY: Final = TooManyRequests("The server has its hands full.", suggestions=("Try again in a moment.",))
_SLOW: Final = TooManyRequests("The request took too long to arrive.", suggestions=("Try again.",))
