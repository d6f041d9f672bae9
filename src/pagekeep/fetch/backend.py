"""The network backend of the HTTP library: the guard makes every connection."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterable
from contextvars import ContextVar
from time import perf_counter
from typing import Any, Final

import httpcore

from pagekeep.fetch.guard import Guard

CONNECT_TIMEOUT: Final = 60.0
"""A last resort: the deadline of the fetch normally ends a connection attempt long before."""

timings: ContextVar[dict[str, float] | None] = ContextVar("timings", default=None)
"""The timings of the fetch that waits for a connection."""


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects only where the guard allows: no Unix sockets, no proxies from the environment."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Return a stream to an allowed address of the host."""
        start = perf_counter()
        connected = await self._guard.connect(host, port, timeout or CONNECT_TIMEOUT)
        _add_connect_time(start)
        return Stream(connected)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class Stream(httpcore.AsyncNetworkStream):
    """A connected socket, which becomes a plain or a TLS stream when it is first used.

    Upgrading a running asyncio stream to TLS leaves its flow control on the plain transport (Python 3.11), so the stream
    is created only when it is known which one is needed.
    """

    def __init__(self, connected: socket.socket) -> None:
        self._socket: socket.socket | None = connected
        self._ends: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def _open(self, **tls: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._ends is None:
            if self._socket is None:
                raise httpcore.ReadError
            # From here on asyncio closes the socket, also when the handshake fails.
            connected, self._socket = self._socket, None
            self._ends = await asyncio.open_connection(sock=connected, **tls)
        return self._ends

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read at most `max_bytes`; empty at the end."""
        try:
            reader, _ = self._ends or await self._open()
            return await reader.read(max_bytes)
        except OSError as error:
            raise httpcore.ReadError(error) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all bytes."""
        if not buffer:
            return
        try:
            _, writer = self._ends or await self._open()
            writer.write(buffer)
            await writer.drain()
        except OSError as error:
            raise httpcore.WriteError(error) from error

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Encrypt the stream, after verifying that the other end is `server_hostname`."""
        start = perf_counter()
        try:
            await self._open(ssl=ssl_context, server_hostname=server_hostname)
        except BaseException as error:
            await self.aclose()
            if isinstance(error, ConnectionError):
                raise httpcore.ReadError(error) from error
            raise
        _add_connect_time(start)
        return self

    async def aclose(self) -> None:
        """Close immediately, without waiting for the other side, which may be hostile."""
        if self._ends is not None:
            self._ends[1].transport.abort()
        elif self._socket is not None:
            self._socket.close()
        self._ends = self._socket = None

    def get_extra_info(self, info: str) -> Any:
        """Return what the HTTP library needs: whether an idle connection was closed, and the TLS parameters."""
        if info == "is_readable":
            return self._ends is None or self._ends[0].at_eof() or self._ends[1].is_closing()
        return None if self._ends is None else self._ends[1].get_extra_info(info)


def _add_connect_time(start: float) -> None:
    seconds = timings.get()
    if seconds is not None:
        seconds["connect"] = seconds.get("connect", 0.0) + perf_counter() - start
