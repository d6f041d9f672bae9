"""Event streams: a few per user, for a limited time, and the first to be closed when connections run out.

A stream holds a connection while nothing is sent, so it is the cheapest way to take them all. Browsers and other clients open a
stream again when it ends; with the id of the last event they saw, they get what has changed since.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, Final

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from pagekeep.doors.http.errors import error_response
from pagekeep.doors.http.middleware.connections import STREAMING
from pagekeep.errors import TooManyRequests

MAX_OF_USER: Final = 8
"""Streams that a user has open in one process: every page of the reader that shows progress needs one."""
MAX_SECONDS: Final = 600.0

Event = tuple[str, Mapping[str, Any]]
"""Its name, and its data, which are sent as JSON."""


class Streams:
    """The streams that are open, by user."""

    def __init__(self, max_seconds: float = MAX_SECONDS) -> None:
        self.max_seconds = max_seconds
        self.open: Counter[str] = Counter()

    def respond(self, request: Request, user_id: str, events: AsyncIterator[Event]) -> EventSourceResponse:
        """Return the response that sends the events, each state of them once."""
        seen = request.headers.get("last-event-id", "")
        return _Stream(self, user_id, _send(events, seen, self.max_seconds))


class _Stream(EventSourceResponse):
    """A stream that is counted while it is open."""

    def __init__(self, streams: Streams, user_id: str, events: AsyncIterator[ServerSentEvent]) -> None:
        super().__init__(events, headers={"Cache-Control": "no-store"})
        self._streams = streams
        self._user_id = user_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        open_streams = self._streams.open
        if open_streams[self._user_id] >= MAX_OF_USER:
            refusal = TooManyRequests(
                f"You have {MAX_OF_USER} event streams open, which is the limit.",
                suggestions=("Close one, or ask for the job or crawl itself from time to time.",),
            )
            await error_response(refusal)(scope, receive, send)
            return
        open_streams[self._user_id] += 1
        scope["state"][STREAMING] = True
        try:
            await super().__call__(scope, receive, send)
        finally:
            open_streams[self._user_id] -= 1
            open_streams += Counter()  # without those that have none


async def _send(events: AsyncIterator[Event], seen: str, max_seconds: float) -> AsyncIterator[ServerSentEvent]:
    """Yield the events until they end or the time is over, without the one that the client has seen."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + max_seconds
    with suppress(StopAsyncIteration, TimeoutError):
        while True:
            name, data = await asyncio.wait_for(anext(events), deadline - loop.time())
            text = json.dumps(data, ensure_ascii=False)
            event_id = hashlib.sha256(f"{name} {text}".encode("utf-8", "replace")).hexdigest()[:16]
            if event_id != seen:
                yield ServerSentEvent(text, event=name, id=event_id)
