"""Limits per host: few parallel requests, a delay between them, and when to retry."""

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

BUSY_STATUSES: Final = frozenset({429, 502, 503, 504})
"""Statuses that mean "try again later"."""
FIRST_BACKOFF_SECONDS: Final = 0.5
"""Wait before the first retry, spread by half; it doubles with each retry."""
MAX_WAIT_SECONDS: Final = 3600.0
"""A longer Retry-After is cut to this."""
MAX_HOSTS: Final = 1024
"""Above this number, hosts that are not in use are forgotten."""


class Clock(Protocol):
    """The time, and waiting; tests use a clock that does not wait."""

    def now(self) -> float:
        """Return monotonic seconds."""
        ...

    def date(self) -> float:
        """Return seconds since 1970."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The system clock."""

    def now(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def date(self) -> float:
        """Return seconds since 1970."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


@dataclass(slots=True)
class _HostState:
    slots: asyncio.Semaphore
    part_slots: asyncio.Semaphore
    next_start: float = 0.0
    """When the next request may start."""
    held_until: float = 0.0
    """Until when the host wants no requests."""
    users: int = field(default=0)
    """Requests that run or wait."""


class HostLimits:
    """Limits the requests per host: their number, the delay between them, and waits that the host asked for."""

    def __init__(self, connections: int, delay: float, clock: Clock) -> None:
        self._connections = connections
        self._delay = delay
        self._clock = clock
        self._hosts: dict[str, _HostState] = {}

    @asynccontextmanager
    async def slot(self, host: str, *, spaced: bool, max_wait: float, part: bool = False) -> AsyncIterator[None]:
        """Wait for one of the host's slots and hold it. `spaced=False` skips the delay, for redirects.

        Parts of a page, such as its images, have their own slots: twice as many, as browsers load them together.

        Raises `FetchHttpError` when the host asked for a wait of more than `max_wait` seconds.
        """
        state = self._state(host)
        state.users += 1
        try:
            async with state.part_slots if part else state.slots:
                await self._wait(state, host, spaced, max_wait)
                yield
        finally:
            state.users -= 1
            self._forget_idle()

    async def _wait(self, state: _HostState, host: str, spaced: bool, max_wait: float) -> None:
        now = self._clock.now()
        if state.held_until - now > max_wait:
            raise FetchHttpError(
                f"`{host}` asked for a pause between requests.",
                status=429,
                suggestions=(f"Try again in {state.held_until - now:.0f} seconds.",),
            )
        start = max(now, state.held_until, state.next_start if spaced else 0.0)
        state.next_start = max(state.next_start, start + self._delay)
        if start > now:
            await self._clock.sleep(start - now)

    def hold(self, host: str, seconds: float) -> None:
        """Send no more requests to the host for this long."""
        state = self._state(host)
        state.held_until = max(state.held_until, self._clock.now() + min(seconds, MAX_WAIT_SECONDS))

    def _state(self, host: str) -> _HostState:
        state = self._hosts.get(host)
        if state is None:
            state = self._hosts[host] = _HostState(
                asyncio.Semaphore(self._connections), asyncio.Semaphore(2 * self._connections)
            )
        return state

    def _forget_idle(self) -> None:
        if len(self._hosts) <= MAX_HOSTS:
            return
        now = self._clock.now()
        for host, state in list(self._hosts.items()):
            if not state.users and max(state.next_start, state.held_until) <= now:
                del self._hosts[host]


def retry_after(headers: Mapping[str, str], clock: Clock) -> float | None:
    """Return the seconds to wait from a `Retry-After` header, in either of its forms."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), MAX_WAIT_SECONDS)
    try:
        return min(max(0.0, parsedate_to_datetime(text).timestamp() - clock.date()), MAX_WAIT_SECONDS)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def backoff(attempt: int) -> float:
    """Return the seconds before the next try: doubled each time, and spread so that not all clients retry at once."""
    return float(FIRST_BACKOFF_SECONDS * 2**attempt * random.uniform(0.5, 1.5))
