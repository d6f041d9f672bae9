"""Good manners towards servers: few requests at once, pauses between them, and when to ask again."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Final, Protocol

from pagekeep.errors import FetchHttpError

BUSY: Final = frozenset({429, 502, 503, 504})
"""Statuses that say "not now"."""
FIRST_PAUSE: Final = 0.5
LONGEST_REST: Final = 3600.0
"""However long a server asks for, it is tried again after an hour."""
GATES_KEPT: Final = 1024


class Clock(Protocol):
    """Time, and the waiting for it. The seam behind which tests do not wait."""

    def now(self) -> float:
        """Seconds that only grow."""
        ...

    def date(self) -> float:
        """Seconds since 1970."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The real one."""

    def now(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()

    def date(self) -> float:
        """Seconds since 1970."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


@dataclass(slots=True)
class _Gate:
    seats: asyncio.Semaphore
    next_start: float = 0.0
    rests_until: float = 0.0
    users: int = field(default=0)


class Gates:
    """One gate per host: so many at once, so far apart, and closed while the host asked to be left alone."""

    def __init__(self, connections: int, delay: float, clock: Clock) -> None:
        self._connections = connections
        self._delay = delay
        self._clock = clock
        self._gates: dict[str, _Gate] = {}

    @asynccontextmanager
    async def turn(self, host: str, *, spaced: bool, patience: float) -> AsyncIterator[None]:
        """Waits for the host's gate and holds a seat. `spaced=False` for what the server itself asked for (redirects).

        `FetchHttpError` when the host asked for a rest longer than `patience` seconds.
        """
        gate = self._gate(host)
        gate.users += 1
        try:
            async with gate.seats:
                await self._wait(gate, host, spaced, patience)
                yield
        finally:
            gate.users -= 1
            self._forget_idle()

    async def _wait(self, gate: _Gate, host: str, spaced: bool, patience: float) -> None:
        now = self._clock.now()
        if gate.rests_until - now > patience:
            raise FetchHttpError(
                f"`{host}` asked not to be asked again so soon.",
                status=429,
                suggestions=(f"Try again in {gate.rests_until - now:.0f} seconds.",),
            )
        start = max(now, gate.rests_until, gate.next_start if spaced else 0.0)
        gate.next_start = max(gate.next_start, start + self._delay)
        if start > now:
            await self._clock.sleep(start - now)

    def rest(self, host: str, seconds: float) -> None:
        """The host asked not to be asked for so long; everyone keeps to it."""
        gate = self._gate(host)
        gate.rests_until = max(gate.rests_until, self._clock.now() + min(seconds, LONGEST_REST))

    def _gate(self, host: str) -> _Gate:
        gate = self._gates.get(host)
        if gate is None:
            gate = self._gates[host] = _Gate(asyncio.Semaphore(self._connections))
        return gate

    def _forget_idle(self) -> None:
        if len(self._gates) <= GATES_KEPT:
            return
        now = self._clock.now()
        for host, gate in list(self._gates.items()):
            if not gate.users and max(gate.next_start, gate.rests_until) <= now:
                del self._gates[host]


def retry_after(headers: Mapping[str, str], clock: Clock) -> float | None:
    """Seconds the server asks to wait, from its `Retry-After` header in either form."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), LONGEST_REST)
    try:
        return min(max(0.0, parsedate_to_datetime(text).timestamp() - clock.date()), LONGEST_REST)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def pause(attempt: int) -> float:
    """Seconds before the next try: doubled each time, and spread so that many callers do not return at once."""
    return float(FIRST_PAUSE * 2**attempt * random.uniform(0.5, 1.5))
