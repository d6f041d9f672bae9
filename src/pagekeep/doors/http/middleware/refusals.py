"""Answer refusals slowly to clients that get many: a loop of requests that are all refused must not take the time of others.

The answer waits when everything else is done, so it holds no body, slot, database connection or thread: only its connection,
which is the first to be closed when there are too many (`connections.py`). The body of the request is not read meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekeep.identity.accounts import network_of

STATUSES: Final = frozenset({400, 401, 403, 413, 429})
"""Refused for who asks, how much or how often. Not 404, 415 and 422: those are results for an item, a page or a file, and
programs that go through a list get many. Not 408: that client has waited already."""
WINDOW_SECONDS: Final = 10.0
MAX_REFUSALS: Final = 100
"""Answered at once to one client within the window. A page whose session has expired asks for as many pictures."""
MAX_WAIT_SECONDS: Final = 10.0
MAX_CLIENTS: Final = 10_000
"""Clients that are counted; the one refused longest ago is forgotten first."""

ENDING: Final = "ending"
"""Key of the request's state: an event, set when the connection is lost or the server shuts down."""
WAITING: Final = "waiting_refusal"
"""Key of the request's state while a refusal waits."""

Pause = Callable[[float, asyncio.Event], Awaitable[None]]
"""Waits for seconds, or until the event."""


async def pause(seconds: float, ending: asyncio.Event) -> None:
    """Wait for seconds, or until the event is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await ending.wait()


class RecentRefusals:
    """Counts the refusals of each client with three numbers: those of the last window fade while the next one passes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: dict[str, tuple[int, int, int]] = {}
        """Number of the window, refusals in it, refusals in the one before; the client refused last is at the end."""

    def __len__(self) -> int:
        return len(self._counts)

    def add(self, client: str) -> float:
        """Count one refusal; return the seconds for which it should wait: one for each `MAX_REFUSALS` in the window."""
        windows = self._clock() / WINDOW_SECONDS
        window = int(windows)
        last, count, before = self._counts.pop(client, (window, 0, 0))
        if last != window:
            count, before = 0, count if last == window - 1 else 0
        self._counts[client] = window, count + 1, before
        if len(self._counts) > MAX_CLIENTS:
            del self._counts[next(iter(self._counts))]
        recent = count + 1 + before * (1 - (windows - window))
        return min(recent / MAX_REFUSALS, MAX_WAIT_SECONDS) if recent > MAX_REFUSALS else 0.0


class Refusals:
    """Delays refusals for clients that get many. A client is the signed-in user, else the address; other answers never wait."""

    def __init__(self, app: ASGIApp, wait: Pause = pause, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._wait = wait
        self._recent = RecentRefusals(clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        held: list[Message] = []
        seconds = 0.0

        async def hold_refusal(message: Message) -> None:
            nonlocal seconds
            if message["type"] == "http.response.start" and message["status"] in STATUSES:
                seconds = self._recent.add(_client(scope))
            if seconds:
                held.append(message)
            else:
                await send(message)

        await self._app(scope, receive, hold_refusal)
        if held:
            state = scope.setdefault("state", {})
            state[WAITING] = True
            await self._wait(seconds, state.get(ENDING) or asyncio.Event())
            for message in held:
                await send(message)


def _client(scope: Scope) -> str:
    user = scope.get("state", {}).get("user_id")
    if user is not None:
        return f"user {user}"
    return network_of(scope["client"][0]) if scope.get("client") else ""
