"""Refusals are answered slowly to clients that get many of them; no other answer waits."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

import pytest
import uvicorn
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app
from pagekeep.doors.http.middleware import connections, refusals
from pagekeep.doors.http.middleware.connections import Connection
from pagekeep.doors.http.middleware.refusals import MAX_REFUSALS, RecentRefusals, Refusals
from pagekeep.identity import accounts
from tests.doors.http.conftest import LOCAL, PASSWORD, service_of

REFUSED = b"GET /403 HTTP/1.1\r\nHost: a\r\n\r\n"


class Now:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def __call__(self) -> float:
        return self.seconds


# Counting


def test_a_client_waits_from_the_hundred_and_first_refusal_on() -> None:
    recent = RecentRefusals(Now())
    assert {recent.add("a") for _ in range(MAX_REFUSALS)} == {0.0}
    assert recent.add("a") > 1.0
    assert recent.add("b") == 0.0


def test_the_wait_grows_with_the_refusals_up_to_a_limit() -> None:
    recent = RecentRefusals(Now())
    waits = [recent.add("a") for _ in range(20 * MAX_REFUSALS)]
    assert waits == sorted(waits)
    assert waits[-1] == refusals.MAX_WAIT_SECONDS


def test_refusals_are_forgotten_gradually() -> None:
    now = Now()
    recent = RecentRefusals(now)
    for _ in range(3 * MAX_REFUSALS):
        recent.add("a")
    now.seconds += refusals.WINDOW_SECONDS * 1.5
    assert 1.0 < recent.add("a") < 3.0
    now.seconds += refusals.WINDOW_SECONDS
    assert recent.add("a") == 0.0


def test_the_client_refused_longest_ago_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "MAX_CLIENTS", 3)
    recent = RecentRefusals(Now())
    for _ in range(MAX_REFUSALS):
        recent.add("old")
    for client in ("a", "b", "old", "c"):  # a is forgotten
        last = recent.add(client)
        assert bool(last) == (client == "old")
    for client in ("d", "e", "f"):
        recent.add(client)
    assert len(recent) == 3
    assert recent.add("old") == 0.0


# Waiting


class Called:
    """A middleware over an application that answers with the status in the path, and what happened in which order."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.app = Refusals(self.answer, wait=self._wait, clock=Now())

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": int(scope["path"][1:]), "headers": []})
        for part in range(3):
            await send({"type": "http.response.body", "body": b"x", "more_body": part < 2})
        self.events.append("done")

    async def _wait(self, _seconds: float, _ending: asyncio.Event) -> None:
        self.events.append("wait")

    def ask(self, status: int, *, address: str = "192.0.2.1", user: str | None = None, times: int = 1) -> list[str]:
        """Return what happened at the last time."""
        state = {"user_id": user} if user else {}

        async def receive() -> Any:
            raise AssertionError("the body is read")

        async def send(message: Any) -> None:
            self.events.append(message["type"].removeprefix("http.response."))

        for _ in range(times):
            self.events = []
            scope = {"type": "http", "path": f"/{status}", "client": (address, 1), "state": dict(state)}
            asyncio.run(self.app(scope, receive, send))
        return self.events


AT_ONCE = ["start", "body", "body", "body", "done"]
LATE = ["done", "wait", "start", "body", "body", "body"]


@pytest.mark.parametrize("status", sorted(refusals.STATUSES))
def test_a_refusal_waits_after_everything_else_is_done(status: int) -> None:
    called = Called()
    assert called.ask(status, times=MAX_REFUSALS) == AT_ONCE
    assert called.ask(status) == LATE


@pytest.mark.parametrize("status", [200, 206, 303, 304, 404, 408, 415, 422, 500, 503])
def test_other_answers_never_wait_and_are_not_counted(status: int) -> None:
    called = Called()
    assert called.ask(status, times=MAX_REFUSALS + 1) == AT_ONCE
    assert called.ask(401) == AT_ONCE
    called.ask(401, times=MAX_REFUSALS)
    assert called.ask(status) == AT_ONCE


def test_addresses_and_users_are_counted_separately() -> None:
    called = Called()
    called.ask(401, address="2001:db8::1", times=MAX_REFUSALS)
    assert called.ask(401, address="2001:db8::2") == LATE, "one host has all addresses of its network"
    assert called.ask(401, address="192.0.2.2") == AT_ONCE
    assert called.ask(403, address="2001:db8::1", user="ada", times=MAX_REFUSALS) == AT_ONCE
    assert called.ask(403, address="192.0.2.3", user="ada") == LATE
    assert called.ask(403, address="192.0.2.3") == AT_ONCE


def test_the_whole_server_counts_anonymous_requests_by_address_and_others_by_user(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals, "WINDOW_SECONDS", 1e9)
    waits: list[float] = []

    async def wait(seconds: float, _ending: asyncio.Event) -> None:
        waits.append(seconds)

    app = create_app(replace(settings, shared=True), processes=1, wait=wait)
    with TestClient(app, base_url=LOCAL) as client:
        known = service_of(client).accounts
        ada = accounts.add_user(known, "ada", PASSWORD).id
        reader = {"authorization": f"Bearer {accounts.add_token(known, ada, 'phone', ('read',)).secret}"}
        for _ in range(MAX_REFUSALS // 2):
            assert client.post("/api/v1/saves", json={"url": "https://a.example/"}).status_code == 401
            assert client.post("/r", content=b"x", headers={"content-length": "99999999"}).status_code == 413
        assert waits == []
        assert client.get("/api/v1/items").status_code == 401
        assert len(waits) == 1
        assert client.get("/api/v1/items", headers=reader).status_code == 200
        assert client.post("/api/v1/items/purge", json={"ids": []}, headers=reader).status_code == 403
        assert len(waits) == 1


# Connections


class Running:
    """A server whose refusals all wait for an hour."""

    def __init__(self, server: uvicorn.Server) -> None:
        self.server = server
        self._stack = ExitStack()

    def connect(self, sent: bytes) -> socket.socket:
        port = self.server.servers[0].sockets[0].getsockname()[1]
        client = self._stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
        client.sendall(sent)
        return client

    @property
    def waiting(self) -> list[Any]:
        connections = [one for one in self.server.server_state.connections if isinstance(one, Connection)]
        return [one for one in connections if one.is_answering and refusals.WAITING in one.scope["state"]]

    @property
    def tasks(self) -> int:
        return len(self.server.server_state.tasks)

    def close(self) -> None:
        self._stack.close()
        self.server.should_exit = True


def wait_until(check: Callable[[], bool]) -> None:
    while not check():
        time.sleep(0.005)


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.setattr(refusals, "MAX_REFUSALS", 0.0001)
    monkeypatch.setattr(refusals, "MAX_WAIT_SECONDS", 3600.0)
    server = uvicorn.Server(
        uvicorn.Config(
            Refusals(Called().answer),
            port=0,
            http=Connection,
            lifespan="off",
            log_config=None,
            timeout_graceful_shutdown=3600,
            timeout_keep_alive=3600,
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    running = Running(server)
    yield running
    running.close()
    thread.join()


def test_a_client_that_hangs_up_ends_its_wait(running: Running) -> None:
    client = running.connect(REFUSED)
    wait_until(lambda: len(running.waiting) == 1)
    client.close()
    wait_until(lambda: running.tasks == 0)


def test_a_shutdown_does_not_wait_for_refusals_but_sends_them(running: Running) -> None:
    client = running.connect(REFUSED)
    wait_until(lambda: len(running.waiting) == 1)
    running.server.should_exit = True
    assert client.recv(65_536).startswith(b"HTTP/1.1 403 ")


def test_the_body_of_a_waiting_refusal_is_not_read_on(running: Running) -> None:
    client = running.connect(b"POST /413 HTTP/1.1\r\nHost: a\r\nContent-Length: 30000000\r\n\r\n")
    wait_until(lambda: len(running.waiting) == 1)
    client.settimeout(0.5)
    with pytest.raises(TimeoutError):
        client.sendall(b"x" * 30_000_000)
    assert len(running.waiting[0].cycle.body) < 1_000_000


def test_a_waiting_refusal_counts_as_a_connection_and_makes_room_before_all_others(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_ADDRESS_CONNECTIONS", 2)
    monkeypatch.setattr(Connection, "_is_proxy", lambda _: False)
    idle = running.connect(b"GET /200 HTTP/1.1\r\nHost: a\r\n\r\n")
    assert idle.recv(65_536).startswith(b"HTTP/1.1 200 ")
    refused = running.connect(REFUSED)
    wait_until(lambda: len(running.waiting) == 1)
    with closing(running.connect(b"GET /200 HTTP/1.1\r\nHost: a\r\n\r\n")) as new:
        assert new.recv(65_536).startswith(b"HTTP/1.1 200 ")
    assert refused.recv(65_536) == b""
    wait_until(lambda: running.server.server_state.total_requests == 2)
    idle.sendall(b"GET /200 HTTP/1.1\r\nHost: a\r\n\r\n")
    wait_until(lambda: running.server.server_state.total_requests == 3)


def test_clients_behind_a_trusted_proxy_are_counted_by_their_own_addresses(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []
    monkeypatch.setattr(RecentRefusals, "add", lambda _, client: counted.append(client) or 0.0)
    client = running.connect(REFUSED.replace(b"\r\n\r\n", b"\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n"))
    assert client.recv(65_536).startswith(b"HTTP/1.1 403 ")
    assert counted == ["192.0.2.7"]
