"""Bodies have a limit, kept while they come in: what they say of their length is not believed."""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekeep.doors.http.errors import error_answer
from pagekeep.errors import TooLarge

MOST_BYTES: Final = 30_000_000
"""A page of 10 MB, written as JSON."""


class BoundedBodies:
    """Answers 413 to a body that is too large, without reading it to its end."""

    def __init__(self, app: ASGIApp, most: int = MOST_BYTES) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > self._most:
            await _refuse(scope, receive, send)
            return
        read, begun = 0, False

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._most:
                raise _TooMuch
            return message

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, counted, watched)
        except _TooMuch:
            if not begun:
                await _refuse(scope, receive, send)


class _TooMuch(Exception):
    """More came than is taken."""


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    error = TooLarge("The request is larger than the server takes.")
    answer = error_answer(error)
    answer.headers["connection"] = "close"
    await answer(scope, receive, send)
