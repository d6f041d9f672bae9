"""The network under the HTTP library: every connection it opens is made by the guard."""

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
"""Only a last resort: the deadline of the fetch ends a connection attempt long before."""

connecting: ContextVar[dict[str, float] | None] = ContextVar("connecting", default=None)
"""Where the time to connect is noted for the fetch that had to wait for it."""


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects to what the guard allows, and to nothing else: no Unix sockets, no proxies, no environment."""

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
        """A stream to an allowed address of the host."""
        began = perf_counter()
        connected = await self._guard.connect(host, port, timeout or CONNECT_TIMEOUT)
        _note(began)
        return Stream(connected)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class Stream(httpcore.AsyncNetworkStream):
    """A connected socket. It becomes a plain or a TLS stream when it is first used as one.

    Upgrading a running asyncio stream to TLS leaves its flow control on the plain transport (Python 3.11), so the choice
    is made before the stream exists.
    """

    def __init__(self, connected: socket.socket) -> None:
        self._socket: socket.socket | None = connected
        self._ends: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def _open(self, **tls: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._ends is None:
            if self._socket is None:
                raise httpcore.ReadError
            # From here on the socket is asyncio's to close, also when the handshake fails.
            connected, self._socket = self._socket, None
            self._ends = await asyncio.open_connection(sock=connected, **tls)
        return self._ends

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What has arrived, at most `max_bytes`; empty at the end."""
        try:
            reader, _ = self._ends or await self._open()
            return await reader.read(max_bytes)
        except OSError as error:
            raise httpcore.ReadError(error) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all."""
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
        """The same stream, encrypted, its other end proven to be `server_hostname`."""
        began = perf_counter()
        try:
            await self._open(ssl=ssl_context, server_hostname=server_hostname)
        except BaseException as error:
            await self.aclose()
            if isinstance(error, ConnectionError):
                raise httpcore.ReadError(error) from error
            raise
        _note(began)
        return self

    async def aclose(self) -> None:
        """Close at once, without waiting for the other side: a hostile one would not answer a goodbye."""
        if self._ends is not None:
            self._ends[1].transport.abort()
        elif self._socket is not None:
            self._socket.close()
        self._ends = self._socket = None

    def get_extra_info(self, info: str) -> Any:
        """What the HTTP library asks: whether an idle connection was closed, and what TLS agreed on."""
        if info == "is_readable":
            return self._ends is None or self._ends[0].at_eof() or self._ends[1].is_closing()
        return None if self._ends is None else self._ends[1].get_extra_info(info)


def _note(began: float) -> None:
    seconds = connecting.get()
    if seconds is not None:
        seconds["connect"] = seconds.get("connect", 0.0) + perf_counter() - began
