"""The HTTP library: the guard makes its connections, bodies are read within limits, and its errors are translated."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

import h2.exceptions
import hpack
import httpcore

from pagekeep.errors import FetchHttpError, FetchNetworkError, FetchTimeout, TooLarge
from pagekeep.fetch.decoders import Body
from pagekeep.fetch.guard import Guard
from pagekeep.fetch.headers import Headers

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


MAX_DRAIN_BYTES: Final = 16_384
"""A body that is not needed is read to its end up to this size, which is cheaper than a new connection."""
CHUNKS_PER_YIELD: Final = 256
"""Chunks read before other fetches may run. Without it, a flood of one-byte chunks delayed them by 1.6 s."""


@dataclass(slots=True)
class Response:
    """The status and headers of a response whose body is not read yet."""

    status: int
    headers: Headers
    raw: httpcore.Response

    @property
    def length(self) -> int | None:
        """The announced length of the body, in bytes as sent."""
        text = self.headers.fields.get("content-length", "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None

    async def drain(self) -> None:
        """Read a short body that is not needed, so that the connection can be used again."""
        length = self.length
        if length is not None and length <= MAX_DRAIN_BYTES:
            async for _ in self.raw.aiter_stream():
                pass

    async def read(self, limit: int) -> bytes:
        """Return the decoded body; raise `TooLarge` as soon as more than the limit is announced or arrives."""
        body = Body(self.headers.fields.get("content-encoding", ""), limit)
        if (self.length or 0) > limit:
            raise TooLarge(f"The page is larger than the limit of {limit / 1e6:g} MB.")
        chunks = 0
        async for chunk in self.raw.aiter_stream():
            body.feed(chunk)
            chunks += 1
            if chunks % CHUNKS_PER_YIELD == 0:
                await asyncio.sleep(0)
        return body.content()


_TIMEOUTS: Final = (httpcore.TimeoutException, TimeoutError)
_CONNECTION_ERRORS: Final = (httpcore.NetworkError, OSError)
_PROTOCOL_ERRORS: Final = (
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
    h2.exceptions.H2Error,
    hpack.HPACKError,
)
_RESETS: Final = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)


@contextmanager
def map_errors(host: str) -> Iterator[None]:
    """Turn the errors of the libraries into `FetchError`; our own pass unchanged."""
    try:
        yield
    except _TIMEOUTS:
        raise FetchTimeout(f"`{host}` did not respond in time.") from None
    except ssl.SSLCertVerificationError:
        raise FetchNetworkError(
            f"The certificate of `{host}` is not valid.",
            suggestions=("Check the URL. If it is your site, renew its certificate.",),
        ) from None
    except ssl.SSLError:
        raise FetchNetworkError(f"The secure connection (TLS) to `{host}` failed.") from None
    except _CONNECTION_ERRORS:
        raise FetchNetworkError(f"The connection to `{host}` was lost.") from None
    except _PROTOCOL_ERRORS:
        raise FetchNetworkError(f"`{host}` closed the connection or did not respond with HTTP.") from None


def was_reset(error: BaseException) -> bool:
    """Return whether the server closed the connection before it responded, which is worth a retry."""
    if isinstance(error, (httpcore.ReadError, httpcore.WriteError)):
        # The HTTP library drops the cause, so our backend passes it as an argument.
        return bool(error.args) and isinstance(error.args[0], _RESETS)
    # Only the text of the library's error shows that it means a closed connection (also HTTP/2's GOAWAY).
    closed = ("Server disconnected", "<ConnectionTerminated")
    return isinstance(error, httpcore.RemoteProtocolError) and str(error).startswith(closed)


_SAVE_FROM_BROWSER: Final = (
    "Open the page in your browser and save it from there with the extension or the bookmarklet."
)
_STATUS_MESSAGES: Final = {
    401: ("requires a login", _SAVE_FROM_BROWSER),
    403: ("refuses to show this page", _SAVE_FROM_BROWSER),
    404: ("has no such page", "Check the URL."),
    410: ("has removed this page", "Look for a copy in a web archive."),
    429: ("received too many requests", "Try again later."),
    451: ("does not show this page for legal reasons", "Look for a copy in a web archive."),
}
"""What the server did and what to do next, by status."""


def make_http_error(host: str, status: int) -> FetchHttpError:
    """Return the error for an HTTP status."""
    fallback = ("has a problem", "Try again later.") if status >= 500 else ("did not return the page", "Check the URL.")
    problem, suggestion = _STATUS_MESSAGES.get(status, fallback)
    return FetchHttpError(f"`{host}` {problem} (status {status}).", status=status, suggestions=(suggestion,))
