"""Connections that keep others waiting are ended (H6)."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import uvicorn

from pagekeep.doors.http.middleware import connections
from pagekeep.doors.http.middleware.connections import Connection

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


class Counted(Connection):
    """A connection that is counted."""

    accepted = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        Counted.accepted += 1


class Running:
    """A server of a small application."""

    def __init__(self, server: uvicorn.Server) -> None:
        self._server = server
        self._stack = ExitStack()
        self._released = threading.Event()

    def connect(self, sent: bytes = b"") -> socket.socket:
        """Connect and send; the server sees both at once, however busy the machine is."""
        before, port = Counted.accepted, self.port
        with self.held():
            client = self._stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            client.sendall(sent)
        self.wait_until(lambda: Counted.accepted > before)
        return client

    @property
    def port(self) -> int:
        return int(self._server.servers[0].sockets[0].getsockname()[1])

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the server busy until `release`, or the end of the block."""
        began = threading.Event()
        self._released = released = threading.Event()
        self._server.servers[0].get_loop().call_soon_threadsafe(lambda: (began.set(), released.wait(20)))
        began.wait(20)
        try:
            yield
        finally:
            self.release()

    def release(self) -> None:
        self._released.set()

    @property
    def open(self) -> list[Any]:
        return list(self._server.server_state.connections)

    def wait_until(self, check: Callable[[], bool]) -> None:
        while not check():
            time.sleep(0.005)

    def close(self) -> None:
        self._stack.close()
        self._server.should_exit = True


def rest(client: socket.socket) -> bytes:
    """All that comes until the connection ends."""
    parts = []
    try:
        while part := client.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    if scope["path"] == "/held":
        await asyncio.sleep(3600)
    body = b"x" * 20_000_000 if scope["path"] == "/large" else b"ok"
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def start() -> Iterator[Callable[..., Running]]:
    with ExitStack() as stack:

        def run(**options: Any) -> Running:
            config = uvicorn.Config(
                application, port=0, http=Counted, log_config=None, timeout_graceful_shutdown=0, **options
            )
            server = uvicorn.Server(config)
            thread = threading.Thread(target=server.run, daemon=True)
            thread.start()
            while not server.started:
                time.sleep(0.005)
            running = Running(server)
            stack.callback(thread.join)
            stack.callback(running.close)
            return running

        yield run


def test_a_head_that_does_not_end_is_answered_408(
    start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.1)
    assert rest(start().connect(GET[:20])).startswith(b"HTTP/1.1 408 ")


def test_a_silent_connection_is_closed_without_a_word(
    start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.1)
    assert rest(start().connect()) == b""


def test_the_second_head_of_a_connection_has_a_time_limit_too(
    start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.1)
    client = start(timeout_keep_alive=3600).connect(GET)
    assert client.recv(15) == b"HTTP/1.1 200 OK"
    client.sendall(GET[:20])
    assert b"HTTP/1.1 408 " in rest(client)


def test_an_answered_connection_is_closed_while_its_body_is_still_sent(start: Callable[..., Running]) -> None:
    client = start(timeout_keep_alive=3600).connect(
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 30000000\r\n\r\nabc"
    )
    assert rest(client).endswith(b"ok")


def test_a_response_that_is_not_read_is_given_up(
    start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "READ_SECONDS", 0.2)
    running = start()
    client = running.connect(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
    running.wait_until(lambda: not running.open)
    assert len(rest(client)) < 20_000_000


def test_a_response_that_is_read_slowly_arrives(start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READ_SECONDS", 2.0)
    client = start().connect(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    read = 0
    while part := client.recv(2_000_000):
        read += len(part)
        time.sleep(0.01)
    assert read > 20_000_000


@pytest.mark.parametrize(("name", "proxies"), [("MAX_ADDRESS_CONNECTIONS", "10.0.0.1"), ("MAX_CONNECTIONS", "*")])
def test_a_new_connection_takes_the_place_of_the_one_that_waits_longest(
    start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch, name: str, proxies: str
) -> None:
    monkeypatch.setattr(connections, name, 3)
    monkeypatch.setattr(connections, "SEND_SECONDS", 3600.0)
    running = start(forwarded_allow_ips=proxies)
    held = running.connect(b"GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
    running.wait_until(lambda: any(each.is_answering for each in running.open))
    body = running.connect(b"POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
    running.wait_until(lambda: sum(each.is_answering for each in running.open) == 2)
    silent = running.connect()
    (idle,) = [each for each in running.open if not each.is_answering]
    # Its time to send is over; that of a client whose request the server has not read yet is not, however busy it is.
    idle.waiting_since -= 7200
    for loser in (silent, body):
        client = running.connect(GET)
        assert client.recv(15) == b"HTTP/1.1 200 OK"
        assert rest(loser) == b""
        running.wait_until(lambda: len(running.open) == 3)
        loser.close()
        if loser is silent:
            client.close()
            running.wait_until(lambda: len(running.open) == 2)
            running.connect(b"GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
            running.wait_until(lambda: sum(each.is_answering for each in running.open) == 3)
    held.setblocking(False)
    with pytest.raises(BlockingIOError):
        held.recv(1)


def test_of_connections_that_come_at_once_those_with_a_request_are_answered(
    start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 10)
    running = start(forwarded_allow_ips="*", timeout_keep_alive=3600)
    port = running.port
    with ExitStack() as stack, running.held():  # the server accepts all of them in one step
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20)) for _ in range(60)]
        for client in clients[:5]:
            client.sendall(GET)
        running.release()
        assert [client.recv(15) for client in clients[:5]] == [b"HTTP/1.1 200 OK"] * 5
        running.wait_until(lambda: len(running.open) == 10)


def test_a_client_that_has_just_connected_has_time_to_send(
    start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 10)
    running = start(forwarded_allow_ips="*")
    bodies = [running.connect(b"POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc") for _ in range(10)]
    running.wait_until(lambda: sum(each.is_answering for each in running.open) == 10)
    client = running.connect()
    running.connect(GET)
    assert [rest(body) for body in bodies[:2]] == [b"", b""]
    client.sendall(GET)
    assert client.recv(15) == b"HTTP/1.1 200 OK"


def test_a_trusted_proxy_has_no_share(start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_ADDRESS_CONNECTIONS", 1)
    running = start(forwarded_allow_ips="127.0.0.1", timeout_keep_alive=3600)
    clients = [running.connect() for _ in range(3)]
    for client in clients:
        client.sendall(GET)
        assert client.recv(15) == b"HTTP/1.1 200 OK"
