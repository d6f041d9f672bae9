"""TLS for the site, with its own certificate authority, and an HTTP/2 server."""

from __future__ import annotations

import asyncio
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

import h2.config
import h2.connection
import h2.events
import trustme


@dataclass
class Authority:
    """Issues certificates that only a client with its `client` context believes."""

    ca: trustme.CA = field(default_factory=trustme.CA)

    def server(self, *names: str, protocols: tuple[str, ...] = ("http/1.1",)) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ca.issue_cert(*names).configure_cert(context)
        context.set_alpn_protocols(list(protocols))
        return context

    @property
    def client(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        self.ca.configure_trust(context)
        return context


@dataclass
class Http2Site:
    """Answers every path with `body` over HTTP/2; `/reset` with a stream reset, `/bye` with a goodbye, `/junk` with noise."""

    tls: ssl.SSLContext
    body: bytes
    headers: list[tuple[str, str]] = field(default_factory=list)
    connections: int = 0
    streams: int = 0
    port: int = 0

    def url(self, path: str) -> str:
        return f"https://localhost:{self.port}{path}"

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
        self._loop.run_until_complete(self._serve(ready))
        self._loop.close()

    async def _serve(self, ready: threading.Event) -> None:
        self._end = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self.tls)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._end.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = self._loop.create_task(self._talk(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        state.initiate_connection()
        try:
            with suppress(OSError):
                writer.write(state.data_to_send())
                while data := await reader.read(65536):
                    for event in state.receive_data(data):
                        if isinstance(event, h2.events.RequestReceived):
                            self._answer(state, writer, event)
                    writer.write(state.data_to_send())
                    await writer.drain()
        finally:
            writer.transport.abort()

    def _answer(
        self, state: h2.connection.H2Connection, writer: asyncio.StreamWriter, event: h2.events.RequestReceived
    ) -> None:
        self.streams += 1
        path = dict(event.headers)[b":path"]
        if path == b"/reset":
            state.reset_stream(event.stream_id, 2)
        elif path == b"/bye":
            state.close_connection()
        elif path == b"/junk":
            writer.write(bytes(9))  # data for no stream at all
        else:
            state.send_headers(event.stream_id, [(":status", "200"), ("content-type", "text/html"), *self.headers])
            state.send_data(event.stream_id, self.body, end_stream=True)
