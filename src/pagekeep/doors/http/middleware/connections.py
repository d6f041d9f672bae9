"""Connections: time limits for heads and unread responses, and a share for each address. Uvicorn itself has none of these.

When there are too many connections, the one that waits the longest for its client makes room: a request that has arrived is
never given up for another. Of connections that come at the same time, each is read once before one of them is chosen.
"""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol, RequestResponseCycle

from pagekeep.doors.http.middleware.refusals import ENDING, WAITING
from pagekeep.identity.accounts import network_of

if TYPE_CHECKING:
    from collections.abc import Container

HEAD_SECONDS: Final = 10.0
"""Time for the head of a request, from the connection or from its first byte on."""
READ_SECONDS: Final = 30.0
"""Time in which a client must read some of a response that waits for it."""
MAX_CONNECTIONS: Final = 1_000
"""Open connections of one process, unless the system allows fewer files."""
MAX_ADDRESS_CONNECTIONS: Final = 100
"""The same from one address. Proxies that the server trusts are exempt: they pass on the connections of many."""
MAX_UNREAD: Final = 2_048
"""Connections over the limit that are read once before some make room: as many as the event loop accepts at a time."""
SEND_SECONDS: Final = 1.0
"""Time in which a client sends something before its connection is among the first to make room."""

STREAMING: Final = "streaming"
"""Key of the request's state while an event stream is sent."""

_SLOW: Final = b"The request took too long to arrive."


class Connection(H11Protocol):
    """One connection of a client."""

    _head_timer: asyncio.TimerHandle | None = None
    _read_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0
    waiting_since = 0.0
    """When the server began to wait for the client."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._ending = asyncio.Event()
        self.app_state = {**self.app_state, ENDING: self._ending}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and end another one if there are too many."""
        super().connection_made(transport)
        self.address = _network_of(self.client[0]) if self.client else ""
        trusted = cast("Container[str]", getattr(self.app, "trusted_hosts", ()))
        self._is_trusted = self.client is not None and self.client[0] in trusted
        self.waiting_since = self.loop.time()
        self._start_head_timer()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers, and what waits to be sent."""
        self._ending.set()
        self._stop_head_timer()
        self._stop_read_timer()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """End the connection after its response, which no longer waits."""
        self._ending.set()
        super().shutdown()

    # Requests

    @property
    def is_answering(self) -> bool:
        """Whether a request has not been answered completely."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    @property
    def sacrifice(self) -> int | None:
        """How early the connection makes room for others: 0 before 1, and so on; `None` if its request has arrived."""
        if not self.is_answering:
            # A client that has just connected may be about to send: it goes with those that are sending.
            return 2 if self.loop.time() - self.waiting_since > SEND_SECONDS else 3
        if STREAMING in self.scope["state"]:  # its client opens it again
            return 0
        if WAITING in self.scope["state"]:
            return 1
        if not self.cycle.more_body:
            return None
        return 4 if "user_id" in self.scope["state"] else 3

    def data_received(self, data: bytes) -> None:
        """Handle data of the client; the head of a request has a time limit."""
        was_answering = self.is_answering
        super().data_received(data)
        if self.is_answering:
            self._stop_head_timer()
            if not was_answering:
                self.waiting_since = self.loop.time()
        elif self._head_timer is None and not self.transport.is_closing():
            self._start_head_timer()
        self._head_bytes += len(data)

    def on_response_complete(self) -> None:
        """Wait for the next request; close the connection if the client is still sending a body that will not be read."""
        super().on_response_complete()
        self._head_bytes = 0
        self.waiting_since = self.loop.time()
        if self.cycle.more_body and not self.is_answering:
            self.transport.close()
        self._watch_reader()

    def _start_head_timer(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._end_slow_head)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _end_slow_head(self) -> None:
        self._head_timer = None
        if self._head_bytes and self.conn.our_state is h11.IDLE and not self.transport.is_closing():
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
            response = h11.Response(status_code=408, headers=headers, reason=STATUS_PHRASES[408])
            parts = (self.conn.send(event) for event in (response, h11.Data(data=_SLOW), h11.EndOfMessage()))
            self.transport.write(b"".join(part or b"" for part in parts))
        self.transport.close()
        self._watch_reader()

    # Responses

    def pause_writing(self) -> None:
        """Wait until the client has read more of the response, within a time limit."""
        super().pause_writing()
        self._watch_reader()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, also if its client does not read the response."""
        super().timeout_keep_alive_handler()
        self._watch_reader()

    def _watch_reader(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        if waiting and self._read_timer is None:
            self._read_timer = self.loop.call_later(READ_SECONDS, self._check_reader, waiting)

    def _check_reader(self, before: int) -> None:
        self._read_timer = None
        if self.transport.get_write_buffer_size() >= before:
            self.transport.abort()
        else:
            self._watch_reader()

    def _stop_read_timer(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    # Shares

    def _make_room(self) -> None:
        if not self._is_proxy():
            own = [other for other in self._others() if other.address == self.address]
            if len(own) >= MAX_ADDRESS_CONNECTIONS:
                self._replace_one(own)
                return
        excess = len(self.connections) - max_connections()
        if excess > min(MAX_UNREAD, _max_files() // 4):
            self._replace_one(self._others())
        if excess > 0:
            # A timer runs after the event loop has read what arrived meanwhile, also with this connection.
            self.loop.call_later(0, self._end_excess)

    def _others(self) -> list[Connection]:
        return [other for other in self.connections if isinstance(other, Connection) and other is not self]

    def _replace_one(self, others: list[Connection]) -> None:
        """End the connection that waits the longest; this one, if all of them have sent their requests."""
        ranked = [(rank, other.waiting_since, other) for other in others if (rank := other.sacrifice) is not None]
        (min(ranked, key=lambda each: each[:2])[2] if ranked else self)._end()

    def _end_excess(self) -> None:
        """End those that wait the longest, of the client with the most connections, until there are not too many."""
        excess = len(self.connections) - max_connections()
        if excess <= 0:
            return
        counts: dict[str, int] = defaultdict(int)
        ranked: dict[str, list[tuple[int, float, Connection]]] = defaultdict(list)
        for one in [*self._others(), self]:
            address = one.client_address
            counts[address] += 1
            if (rank := one.sacrifice) is not None:
                ranked[address].append((rank, one.waiting_since, one))
        for waiting in ranked.values():
            waiting.sort(key=lambda each: each[:2], reverse=True)
        for _ in range(excess):
            busiest = max(ranked, key=counts.__getitem__, default=None)
            if busiest is None:
                return
            ranked[busiest].pop()[2]._end()
            counts[busiest] -= 1
            if not ranked[busiest]:
                del ranked[busiest]

    def _end(self) -> None:
        self.connections.discard(self)  # it does not count any more, though it ends a moment later
        self.transport.abort()

    @property
    def client_address(self) -> str:
        """The network of the client; behind a trusted proxy that of the client it names, when its request has arrived."""
        scope: Any = self.scope  # `None` before the first request
        named = scope.get("client") if scope and self._is_proxy() else None
        return _network_of(named[0]) if named else self.address

    def _is_proxy(self) -> bool:
        return self._is_trusted


@lru_cache(maxsize=4_096)
def _network_of(address: str) -> str:
    return network_of(address)


def max_connections() -> int:
    """Return the number of connections that this process may have open: at most half of its files."""
    return min(MAX_CONNECTIONS, _max_files() // 2)


def _max_files() -> int:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return sys.maxsize
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft
