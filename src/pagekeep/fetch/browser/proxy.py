"""The browser's HTTP proxy on loopback, which makes all its connections through the address guard.

Playwright's `route` sees only some of a page's requests (not redirects, workers, WebSockets and speculation rules), but all
of them go through the proxy that Chromium was started with. Each page has its own session with a password, so that every
connection is known to belong to a page, and other programs on the machine cannot use the proxy.
"""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from pagekeep.errors import BlockedAddress, FetchNetworkError, InvalidUrl, PagekeepError
from pagekeep.fetch.guard import Guard
from pagekeep.fetch.urls import SplitUrl

MAX_HEAD: Final = 256 * 1024
"""Bytes of a request or response head: enough for all cookies and long URLs."""
MAX_PAGE_BYTES: Final = 100_000_000
"""Bytes that one page may load in total. The heaviest apps load about a tenth of this."""
CONNECT_SECONDS: Final = 10.0
"""Time limit for a connection to a server."""
IDLE_SECONDS: Final = 60.0
"""For a connection that has sent no request yet."""
CHUNK: Final = 64 * 1024

# Headers for one connection only (RFC 9110, 7.6.1), and the proxy's password, which servers must not see.
_HOP_HEADERS = frozenset(
    [b"connection", b"keep-alive", b"proxy-authorization", b"proxy-connection", b"te", b"trailer", b"upgrade"]
)

_Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(slots=True, eq=False)
class ProxySession:
    """One page's use of the proxy."""

    user: str
    password: str
    failures: list[PagekeepError] = field(default_factory=list)
    """Why connections failed, in order."""
    received: int = 0
    """Bytes loaded so far."""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def header(self) -> bytes:
        """The value of `Proxy-Authorization`."""
        return b"Basic " + base64.b64encode(f"{self.user}:{self.password}".encode())


@dataclass(frozen=True, slots=True)
class _Head:
    """The start line and header lines of a message, as bytes."""

    start: bytes
    lines: list[bytes]

    def value(self, name: bytes) -> bytes | None:
        for line in self.lines:
            key, _, value = line.partition(b":")
            if key.strip().lower() == name:
                return value.strip()
        return None

    @property
    def is_interim(self) -> bool:
        """Whether this is an interim response (100 to 199), which another one follows."""
        return self.start.partition(b" ")[2].startswith(b"1")

    def forward(self, start: bytes) -> bytes:
        """Return the head for the next connection, which is closed after this message."""
        lines = [line for line in self.lines if line.partition(b":")[0].strip().lower() not in _HOP_HEADERS]
        return b"\r\n".join([start, *lines, b"Connection: close", b"", b""])


class Proxy:
    """Forwards `http:` requests and `CONNECT` tunnels of open sessions. Start it before use, and close it."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._sessions: dict[bytes, ProxySession] = {}
        self._unidentified: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._port = 0

    async def start(self) -> None:
        """Listen on a free port of loopback."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MAX_HEAD)
        self._port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening and drop every connection."""
        if self._server is None:
            return
        self._server.close()
        for session in list(self._sessions.values()):
            await self.close_session(session)
        await _cancel(self._unidentified)
        self._server = None

    @property
    def address(self) -> str:
        """The value of `--proxy-server`."""
        return f"http://127.0.0.1:{self._port}"

    def open_session(self) -> ProxySession:
        """Open a session for a page."""
        session = ProxySession(secrets.token_hex(8), secrets.token_hex(24))
        self._sessions[session.header] = session
        return session

    async def close_session(self, session: ProxySession) -> None:
        """End a session and all its connections."""
        self._sessions.pop(session.header, None)
        await _cancel(session.tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._unidentified.add(task)
        try:
            await self._answer(task, (reader, writer))
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the browser or the server has closed the connection
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._unidentified.discard(task)
            writer.close()

    async def _answer(self, task: asyncio.Task[None], browser: _Stream) -> None:
        head = await asyncio.wait_for(_read_head(browser[0]), IDLE_SECONDS)
        session = self._sessions.get(head.value(b"proxy-authorization") or b"")
        if session is None:
            _refuse(browser[1], b"407 Proxy Authentication Required", b'Proxy-Authenticate: Basic realm="pagekeep"')
            return
        self._unidentified.discard(task)
        session.tasks.add(task)
        try:
            await self._forward(session, head, browser)
        finally:
            session.tasks.discard(task)

    async def _forward(self, session: ProxySession, head: _Head, browser: _Stream) -> None:
        try:
            method, url, path = _parse_request_line(head.start)
            server = await self._open(url)
        except PagekeepError as error:
            session.failures.append(error)
            if head.start.startswith(b"CONNECT "):
                _refuse(browser[1], b"502 Bad Gateway")
            # A plain request gets no response: the browser would take ours for the server's.
            return
        try:
            if method == b"CONNECT":
                browser[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await _tunnel(session, browser, server)
            else:
                server[1].write(head.forward(b"%s %s HTTP/1.1" % (method, path)))
                await _exchange(session, browser, server)
        finally:
            server[1].transport.abort()

    async def _open(self, url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            parts = self._guard.check_url(url)
        except BlockedAddress as error:  # the page chose this address, so it is not shown
            blocked = BlockedAddress("The page leads to a private address.")
            blocked.host = error.host
            raise blocked from None
        if not _is_web_port(parts) or (parts.port == self._port and parts.host.name == "127.0.0.1"):
            raise BlockedAddress(f"Port {parts.port} of `{parts.host.name}` is not allowed for pages.")
        return await self._guard.open_connection(parts.host.name, parts.port, CONNECT_SECONDS)


def _is_web_port(parts: SplitUrl) -> bool:
    """Return whether pages can be on this port; the others below 1024 are mail, shells and file shares."""
    return parts.port in (80, 443) or parts.port >= 1024


def _parse_request_line(line: bytes) -> tuple[bytes, str, bytes]:
    """Return the method, the URL of the server to connect to, and the path to request there."""
    try:
        method, target, _ = line.decode("ascii").split(" ")
    except (UnicodeDecodeError, ValueError):
        raise InvalidUrl("The browser requested an invalid URL.") from None
    if method == "CONNECT":
        return b"CONNECT", f"https://{target}/", b""
    if not target.startswith("http://"):
        raise InvalidUrl("The browser requested a URL that is not http.")
    authority, slash, path = target[7:].partition("/")
    if "?" in authority:
        raise InvalidUrl("The browser requested a URL without a path.")
    return method.encode(), f"http://{authority}/", (slash + path or "/").encode()


async def _read_head(reader: asyncio.StreamReader) -> _Head:
    """Read a message head; its lines end with CRLF or, from some old servers, LF."""
    lines: list[bytes] = []
    size = 0
    while line := (await reader.readuntil(b"\n")).rstrip(b"\r\n"):
        lines.append(line)
        size += len(line)
        if size > MAX_HEAD:
            raise ConnectionAbortedError
    return _Head(lines[0] if lines else b"", lines[1:])


async def _exchange(session: ProxySession, browser: _Stream, server: _Stream) -> None:
    """Forward the rest of a plain request, and the response with `Connection: close`.

    Otherwise the browser would send a second request on this connection, which may be for another host.
    """
    sending = asyncio.ensure_future(_pump(browser[0], server[1]))
    try:
        head = await _read_head(server[0])
        while head.is_interim:
            browser[1].write(b"\r\n".join([head.start, *head.lines, b"", b""]))
            head = await _read_head(server[0])
        browser[1].write(head.forward(head.start))
        await _pump(server[0], browser[1], session)
    finally:
        await _cancel({sending})


async def _tunnel(session: ProxySession, browser: _Stream, server: _Stream) -> None:
    directions = {
        asyncio.ensure_future(_pump(browser[0], server[1])),
        asyncio.ensure_future(_pump(server[0], browser[1], session)),
    }
    try:
        await asyncio.wait(directions, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        await _cancel(directions)


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, session: ProxySession | None = None) -> None:
    """Copy until the source ends; with a session, count the bytes."""
    while data := await source.read(CHUNK):
        if session is not None:
            session.received += len(data)
            if session.received > MAX_PAGE_BYTES:
                message = f"The page loads more than {MAX_PAGE_BYTES / 1e6:g} MB."
                session.failures.append(FetchNetworkError(message, suggestions=()))
                raise ConnectionAbortedError
        sink.write(data)
        await sink.drain()
    if sink.can_write_eof():
        sink.write_eof()


def _refuse(writer: asyncio.StreamWriter, status: bytes, *headers: bytes) -> None:
    lines = [b"HTTP/1.1 " + status, *headers, b"Content-Length: 0", b"Connection: close", b"", b""]
    writer.write(b"\r\n".join(lines))


async def _cancel(tasks: Iterable[asyncio.Future[None]]) -> None:
    """Cancel the tasks and wait until they have ended; their errors no longer matter."""
    cancelled = list(tasks)
    for task in cancelled:
        task.cancel()
    await asyncio.gather(*cancelled, return_exceptions=True)
