"""Request bodies while they arrive: a minimum rate, a share for each client, and a limit for the values in them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NoReturn, Protocol

from starlette.types import Message, Receive, Send

from pagekeep.errors import PagekeepError, TooLarge, TooManyRequests, TooSlow

MIN_BYTES_PER_SECOND: Final = 4_000
"""Slower than any connection on which a page can be read: 32 kbit/s."""
GRACE_SECONDS: Final = 10.0
"""Waiting time that a body may need in addition to what the minimum rate allows."""
MAX_PAUSE_SECONDS: Final = 20.0
"""Longest time without a single byte, however much arrived before."""
PATIENCE_SECONDS: Final = 1.0
"""A body for which the server has waited longer than this makes room for others when its pool is full."""

TOO_LARGE: Final = TooLarge("The request is too large.")
TOO_MANY_VALUES: Final = TooLarge("The request has too many values.", suggestions=("Split it into several requests.",))
BUSY: Final = TooManyRequests("The server is busy.", suggestions=("Try again in a moment.",))
SLOW: Final = TooSlow("The request took too long to arrive.")


class Rejected(Exception):
    """The body was rejected. The route may catch this and respond anyway: see `Body.send`."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one body."""

    max_bytes: int
    seconds: float


class Body:
    """One request body, and whether its response has started."""

    def __init__(
        self, client: str, limits: Limits, pool: Pool, receive: Receive, send: Send, shape: Shape | None = None
    ) -> None:
        self.client = client
        self._limits = limits
        self._pool = pool
        self._shape = shape
        self._receive = receive
        self._send = send
        self._clock = asyncio.get_running_loop().time
        self._deadline = self._clock() + limits.seconds
        self._waited = 0.0
        self._waiting_since: float | None = None
        self._timer: asyncio.Timeout | None = None
        self._complete = False
        self.read = 0
        self.started = False
        self.error: PagekeepError | None = None

    @property
    def waited(self) -> float:
        """Seconds that the server has waited for the client: time in which a route is busy does not count."""
        since = self._waiting_since
        return self._waited + (self._clock() - since if since is not None else 0.0)

    @property
    def is_late(self) -> bool:
        """Whether others may take its place."""
        return self.error is None and self._waiting_since is not None and self.waited > PATIENCE_SECONDS

    def end(self, error: PagekeepError) -> None:
        """Give up on the body while it is waited for."""
        self.error = error
        self._pool.complete(self)
        if self._timer is not None:
            with suppress(RuntimeError):  # its time is up at this very moment
                self._timer.reschedule(self._clock())

    async def receive(self) -> Message:
        """Return the next part; after the last one, the disconnect message, without a time limit."""
        if self._complete:
            return await self._receive()
        if self.error is not None:
            raise Rejected
        message = await self._next_part()
        self._complete = not message.get("more_body", False)
        length = len(message.get("body", b""))
        self.read += length
        error = self._pool.add(self, length)
        if self._complete:
            self._pool.complete(self)
        if self.read > self._limits.max_bytes:
            self._fail(TOO_LARGE)
        if error is not None:
            self._fail(error)
        if self._shape is not None and self._shape.add(message.get("body", b"")):
            self._fail(TOO_MANY_VALUES)
        return message

    async def _next_part(self) -> Message:
        self._waiting_since = self._clock()
        try:
            async with asyncio.timeout_at(self._wait_until()) as self._timer:
                return await self._receive()
        except TimeoutError:
            self._fail(self.error or SLOW)
        finally:
            self._waited, self._waiting_since, self._timer = self.waited, None, None

    def _wait_until(self) -> float:
        now = self._clock()
        allowed = GRACE_SECONDS + self.read / MIN_BYTES_PER_SECOND - self._waited
        return min(self._deadline, now + allowed, now + MAX_PAUSE_SECONDS)

    def _fail(self, error: PagekeepError) -> NoReturn:
        self.error = error
        self._pool.complete(self)
        raise Rejected

    async def send(self, message: Message) -> None:
        """Drop the route's response to a body that was rejected halfway; the rejection is sent instead."""
        if self.error is not None and not self.started:
            return
        self.started = True
        await self._send(message)


@dataclass(slots=True)
class Pool:
    """Bodies that share limits. Bytes count until the response is sent, bodies until they have arrived."""

    max_bytes: int
    max_bodies: int
    max_client_bytes: int
    max_client_bodies: int
    in_use: Counter[str] = field(default_factory=Counter)
    """Bytes by client."""
    arriving: list[Body] = field(default_factory=list)
    """Oldest first."""

    def enter(self, body: Body) -> None:
        """Add a body that starts to arrive; if there are too many, one that others wait for is ended."""
        counts = Counter(other.client for other in self.arriving)
        if counts[body.client] >= self.max_client_bodies:
            self._end_slowest(body.client)
        elif len(self.arriving) >= self.max_bodies:
            self._end_slowest(counts.most_common(1)[0][0])
        self.arriving.append(body)

    def add(self, body: Body, length: int) -> PagekeepError | None:
        """Count the bytes that arrived last; return the error if they are too many."""
        self.in_use[body.client] += length
        if self.in_use[body.client] > self.max_client_bytes:
            return None if self._end_slowest(body.client, body) else BUSY
        if self.in_use.total() > self.max_bytes:
            return None if self._end_slowest(self.in_use.most_common(1)[0][0], body) else BUSY
        return None

    def complete(self, body: Body) -> None:
        """Note that the body has arrived or was given up; its bytes are still in use."""
        if body in self.arriving:
            self.arriving.remove(body)

    def leave(self, body: Body) -> None:
        """Free the bytes of a body."""
        self.complete(body)
        self.in_use[body.client] -= body.read
        if self.in_use[body.client] <= 0:
            del self.in_use[body.client]

    def _end_slowest(self, client: str, spared: Body | None = None) -> bool:
        """End the client's body that was waited for the longest; return whether there was one."""
        late = [body for body in self.arriving if body.client == client and body is not spared and body.is_late]
        if late:
            max(late, key=lambda body: body.waited).end(SLOW)
        return bool(late)


MAX_STRINGS: Final = 20_000
"""Strings of a JSON body; the longest lists that routes accept have 1,000."""
MAX_OTHER_BYTES: Final = 200_000
"""Bytes of a JSON body outside its strings: numbers, brackets, commas and spaces."""
MAX_FIELDS: Final = 2_000
"""Fields of a form."""


class Shape(Protocol):
    """Counts the values of one body."""

    def add(self, part: bytes) -> bool:
        """Count the next part; return whether there are too many values."""


class JsonShape:
    """Strings of a JSON body, and bytes outside them. What is not JSON at all is left to the parser."""

    def __init__(self) -> None:
        self._rest = b""
        self._inside = False
        self._quotes = 0
        self._others = 0

    def add(self, part: bytes) -> bool:
        """Count the next part; return whether there are too many values."""
        part = self._rest + part
        backslashes = len(part) - len(part.rstrip(b"\\"))
        self._rest = b"\\" if backslashes % 2 else b""  # it belongs to the next byte
        part = part[: len(part) - len(self._rest)]
        # Without escapes every quote starts or ends a string.
        pieces = part.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        self._quotes += len(pieces) - 1
        self._others += sum(map(len, pieces[1 if self._inside else 0 :: 2]))
        self._inside ^= len(pieces) % 2 == 0
        return self._quotes > 2 * MAX_STRINGS or self._others > MAX_OTHER_BYTES


class FormShape:
    """Fields of a URL-encoded form."""

    def __init__(self) -> None:
        self._fields = 0

    def add(self, part: bytes) -> bool:
        """Count the next part; return whether there are too many values."""
        self._fields += part.count(b"&")
        return self._fields > MAX_FIELDS


def shape_of(headers: Iterable[tuple[bytes, bytes]]) -> Shape | None:
    """Return what counts the values of a body with these headers. Parts of multipart forms are counted by their parser."""
    kind = dict(headers).get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind == b"application/x-www-form-urlencoded":
        return FormShape()
    return None if kind == b"multipart/form-data" else JsonShape()
