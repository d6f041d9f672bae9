"""The server: HTTP/1.1 by hand, because a proper library would not let us send what bad servers send."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import parse_qsl


@dataclass(frozen=True)
class Request:
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    target: str
    """Path and query as they came."""
    body: bytes = b""


@dataclass
class Reply:
    """The way back to the client. Handlers that write by hand end the connection."""

    writer: asyncio.StreamWriter
    keep: bool = False

    async def send(self, body: bytes | str = b"", status: int = 200, **headers: str) -> None:
        """A well-formed answer; `content_type="..."` and so on become headers."""
        data = body.encode() if isinstance(body, str) else body
        named = {"content-type": "text/html; charset=utf-8", "content-length": str(len(data))}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        await self.head(status, [f"{name}: {value}" for name, value in named.items()])
        await self.raw(data)
        self.keep = True

    async def head(self, status: int, lines: list[str]) -> None:
        await self.raw("\r\n".join([f"HTTP/1.1 {status} X", *lines, "", ""]).encode())

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """Hang up rudely: the client sees a connection reset."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        self.writer.transport.abort()


def to_bytes(text: str) -> bytes:
    """A value from the query as the very bytes that were percent-encoded there."""
    return text.encode("utf-8", "surrogateescape")


Handler = Callable[[Request, Reply], Awaitable[None]]


@dataclass
class Site:
    """Runs in its own thread, so that sync and async tests alike can use it. A context manager."""

    handlers: dict[str, Handler]
    """First segment of the path to what answers there."""
    host: str = "127.0.0.1"
    tls: ssl.SSLContext | None = None
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    port: int = 0

    def url(self, path: str = "/", host: str | None = None) -> str:
        name = host or (f"[{self.host}]" if ":" in self.host else self.host)
        return f"{'https' if self.tls else 'http'}://{name}:{self.port}{path}"

    def asked(self, path: str) -> int:
        """How often the path was asked for."""
        return sum(request.path == path for request in self.requests)

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        ready.wait()
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve(ready))
        finally:
            self._loop.close()

    async def _serve(self, ready: threading.Event) -> None:
        self._end = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._accept, self.host, self.port, ssl=self.tls, limit=1 << 17)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._end.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Not a coroutine: then our own tasks can be ended without asyncio complaining about it.
        self.connections += 1
        task = self._loop.create_task(self._talk(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                while await self._answer(reader, Reply(writer)):
                    pass
        finally:
            writer.transport.abort() if self._end.is_set() else writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, reply: Reply) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("utf-8")
        first, *lines = head.rstrip().split("\r\n")
        target = first.split(" ")[1]
        path, _, query = target.partition("?")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = headers.get("content-length", "")
        body = await reader.readexactly(int(length)) if length.isdigit() else b""
        request = Request(
            path, dict(parse_qsl(query, keep_blank_values=True, errors="surrogateescape")), headers, target, body
        )
        self.requests.append(request)
        handler = self.handlers.get(path.split("/")[1])
        if handler is None:
            await reply.send("<title>Nothing here</title><p>There is no such page.", 404)
        else:
            await handler(request, reply)
        return reply.keep


@dataclass
class Canary:
    """A listener that nothing may ever reach: it counts who tries, over IPv4 and IPv6 loopback."""

    connections: int = 0
    port: int = 0

    def __enter__(self) -> Self:
        four = socket.create_server(("0.0.0.0", 0))
        self.port = four.getsockname()[1]
        self._listeners = [four]
        if socket.has_dualstack_ipv6() or socket.has_ipv6:
            with suppress(OSError):
                self._listeners.append(socket.create_server(("::", self.port), family=socket.AF_INET6))
        for listener in self._listeners:
            listener.settimeout(0.05)
        self._ending = False
        self._threads = [threading.Thread(target=self._listen, args=(each,), daemon=True) for each in self._listeners]
        for thread in self._threads:
            thread.start()
        return self

    def _listen(self, listener: socket.socket) -> None:
        while not self._ending:
            with suppress(TimeoutError):
                visitor, _ = listener.accept()
                self.connections += 1
                visitor.close()
        listener.close()

    def __exit__(self, *exception: object) -> None:
        self._ending = True
        for thread in self._threads:
            thread.join()
