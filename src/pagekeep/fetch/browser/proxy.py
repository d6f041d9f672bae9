"""The browser's only way out: an HTTP proxy on loopback that connects through the address guard and nowhere else.

Playwright's `route` sees only part of what a page asks for (redirects, workers, WebSockets and speculation rules slip by
it), but whatever the page does has to pass the proxy that Chromium was started with. Each page gets a pass of its own, so
that a connection can be laid to its page's account and other programs on the machine cannot use the proxy.
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
"""Bytes of a request or response head; cookies and long addresses fit many times over."""
MAX_PAGE_BYTES: Final = 100_000_000
"""Bytes that all connections of one page may bring in. The heaviest apps load about a tenth of that."""
CONNECT_SECONDS: Final = 10.0
IDLE_SECONDS: Final = 60.0
"""For a connection that has sent no request yet."""
CHUNK: Final = 64 * 1024

# Headers that concern one connection only (RFC 9110, 7.6.1), and our own credential, which no server may see.
_HOP = frozenset(
    [b"connection", b"keep-alive", b"proxy-authorization", b"proxy-connection", b"te", b"trailer", b"upgrade"]
)

_Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(slots=True, eq=False)
class Pass:
    """One page's leave to use the proxy, and what came of it."""

    user: str
    password: str
    failures: list[PagekeepError] = field(default_factory=list)
    """Why connections could not be made, in order."""
    received: int = 0
    """Bytes brought in so far."""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def header(self) -> bytes:
        """What `Proxy-Authorization` has to say."""
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
        """Whether this heads an answer that another follows (100 to 199)."""
        return self.start.partition(b" ")[2].startswith(b"1")

    def forwarded(self, start: bytes) -> bytes:
        """The head for the next connection, which carries this one message and is closed."""
        kept = [line for line in self.lines if line.partition(b":")[0].strip().lower() not in _HOP]
        return b"\r\n".join([start, *kept, b"Connection: close", b"", b""])


class Proxy:
    """Forwards `http:` requests and `CONNECT` tunnels of those who hold a pass. Start it before use, close it after."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._passes: dict[bytes, Pass] = {}
        self._strangers: set[asyncio.Task[None]] = set()
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
        for held in list(self._passes.values()):
            await self.revoke(held)
        await _cancel(self._strangers)
        self._server = None

    @property
    def address(self) -> str:
        """What `--proxy-server` takes."""
        return f"http://127.0.0.1:{self._port}"

    def issue(self) -> Pass:
        """A new pass."""
        made = Pass(secrets.token_hex(8), secrets.token_hex(24))
        self._passes[made.header] = made
        return made

    async def revoke(self, held: Pass) -> None:
        """End a pass and every connection made with it."""
        self._passes.pop(held.header, None)
        await _cancel(held.tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._strangers.add(task)
        try:
            await self._answer(task, (reader, writer))
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # The browser or the server went away: nobody is left to tell.
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._strangers.discard(task)
            writer.close()

    async def _answer(self, task: asyncio.Task[None], here: _Stream) -> None:
        head = await asyncio.wait_for(_read_head(here[0]), IDLE_SECONDS)
        held = self._passes.get(head.value(b"proxy-authorization") or b"")
        if held is None:
            _refuse(here[1], b"407 Proxy Authentication Required", b'Proxy-Authenticate: Basic realm="pagekeep"')
            return
        self._strangers.discard(task)
        held.tasks.add(task)
        try:
            await self._forward(held, head, here)
        finally:
            held.tasks.discard(task)

    async def _forward(self, held: Pass, head: _Head, here: _Stream) -> None:
        try:
            method, where, path = _request_line(head.start)
            there = await self._open(where)
        except PagekeepError as error:
            held.failures.append(error)
            if head.start.startswith(b"CONNECT "):
                _refuse(here[1], b"502 Bad Gateway")
            # A plain request gets no answer at all: one of ours would be taken for the server's.
            return
        try:
            if method == b"CONNECT":
                here[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await _tunnel(held, here, there)
            else:
                there[1].write(head.forwarded(b"%s %s HTTP/1.1" % (method, path)))
                await _exchange(held, here, there)
        finally:
            there[1].transport.abort()

    async def _open(self, where: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        parts = self._guard.check_url(where)
        if not _port_makes_sense(parts) or (parts.port == self._port and parts.host.name == "127.0.0.1"):
            raise BlockedAddress(f"`{parts.host.name}` was asked for on a port that serves no pages.")
        return await self._guard.open_connection(parts.host.name, parts.port, CONNECT_SECONDS)


def _port_makes_sense(parts: SplitUrl) -> bool:
    """Below 1024 only the web's own ports: the others are mail, shells and file shares."""
    return parts.port in (80, 443) or parts.port >= 1024


def _request_line(line: bytes) -> tuple[bytes, str, bytes]:
    """Method, the URL of the server to connect to, and what to ask it for."""
    try:
        method, target, _ = line.decode("ascii").split(" ")
    except (UnicodeDecodeError, ValueError):
        raise InvalidUrl("The browser asked for something that is not an address.") from None
    if method == "CONNECT":
        return b"CONNECT", f"https://{target}/", b""
    if not target.startswith("http://"):
        raise InvalidUrl("The browser asked for something that is not an http address.")
    authority, slash, path = target[7:].partition("/")
    if "?" in authority:
        raise InvalidUrl("The browser asked for an address without a path.")
    return method.encode(), f"http://{authority}/", (slash + path or "/").encode()


async def _read_head(reader: asyncio.StreamReader) -> _Head:
    """The next head, lines ended by CRLF or, as some old servers have it, LF alone."""
    lines: list[bytes] = []
    size = 0
    while line := (await reader.readuntil(b"\n")).rstrip(b"\r\n"):
        lines.append(line)
        size += len(line)
        if size > MAX_HEAD:
            raise ConnectionAbortedError
    return _Head(lines[0] if lines else b"", lines[1:])


async def _exchange(held: Pass, here: _Stream, there: _Stream) -> None:
    """Pass on what is left of a plain request, and its answer with `Connection: close`, so that the browser sends no
    second request here: it shares a proxy connection between hosts, and the next could be for another."""
    asking = asyncio.ensure_future(_pump(here[0], there[1]))
    try:
        head = await _read_head(there[0])
        while head.is_interim:
            here[1].write(b"\r\n".join([head.start, *head.lines, b"", b""]))
            head = await _read_head(there[0])
        here[1].write(head.forwarded(head.start))
        await _pump(there[0], here[1], held)
    finally:
        await _cancel({asking})


async def _tunnel(held: Pass, here: _Stream, there: _Stream) -> None:
    ways = {asyncio.ensure_future(_pump(here[0], there[1])), asyncio.ensure_future(_pump(there[0], here[1], held))}
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        await _cancel(ways)


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, held: Pass | None = None) -> None:
    """Copy until the source ends; what comes in is counted on the page's pass."""
    while data := await source.read(CHUNK):
        if held is not None:
            held.received += len(data)
            if held.received > MAX_PAGE_BYTES:
                held.failures.append(FetchNetworkError("The page loads more than Pagekeep takes."))
                raise ConnectionAbortedError
        sink.write(data)
        await sink.drain()
    if sink.can_write_eof():
        sink.write_eof()


def _refuse(writer: asyncio.StreamWriter, status: bytes, *headers: bytes) -> None:
    lines = [b"HTTP/1.1 " + status, *headers, b"Content-Length: 0", b"Connection: close", b"", b""]
    writer.write(b"\r\n".join(lines))


async def _cancel(tasks: Iterable[asyncio.Future[None]]) -> None:
    """Cancel the tasks and wait until they are gone; what they failed with no longer matters."""
    waited = list(tasks)
    for task in waited:
        task.cancel()
    await asyncio.gather(*waited, return_exceptions=True)
