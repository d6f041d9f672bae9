"""Bodies that are too large, too many or too slow."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from pagekeep.doors.http.middleware.body_limits import BodyLimits


def app() -> FastAPI:
    made = FastAPI()

    @made.post("/json")
    async def json(asked: dict[str, str]) -> int:
        return len(asked)

    @made.post("/raw")
    async def raw(request: Request) -> int:
        return len(await request.body())

    return made


def stream(parts: int) -> Iterator[bytes]:
    for _ in range(parts):
        yield b"x" * 1_000


@pytest.mark.parametrize("path", ["/json", "/raw"])
def test_a_body_without_a_length_is_refused_where_it_becomes_too_large(path: str) -> None:
    client = TestClient(BodyLimits(app(), max_bytes=10_000))
    answer = client.post(path, content=stream(11), headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["error"]["type"] == "TooLarge"
    assert client.post("/raw", content=stream(10)).json() == 10_000


def test_all_bodies_in_hand_have_a_bound_together() -> None:
    async def go() -> tuple[list[int], list[int]]:
        bounded = BodyLimits(app(), max_bytes=10_000, max_total=15_000)
        gate = asyncio.Event()
        first = asyncio.create_task(ask(bounded, 9, gate))
        await asyncio.sleep(0.05)
        refused = await ask(bounded, 9, None)
        gate.set()
        return [await first, refused], [await ask(bounded, 9, None)]

    together, afterwards = asyncio.run(go())
    assert together == [200, 429]
    assert afterwards == [200]


def test_a_body_that_does_not_come_is_given_up_on() -> None:
    async def go() -> int:
        return await ask(BodyLimits(app(), seconds=0.05), 1, asyncio.Event())

    assert asyncio.run(go()) == 408


async def ask(bounded: BodyLimits, parts: int, gate: asyncio.Event | None) -> int:
    """The status for a body of this many parts, of which the last comes when the gate opens."""
    statuses: list[int] = []
    sent = 0

    async def receive() -> dict[str, Any]:
        nonlocal sent
        sent += 1
        if sent == parts + 1 and gate is not None:
            await gate.wait()
        return {"type": "http.request", "body": b"x" * 1_000 if sent <= parts else b"", "more_body": sent <= parts}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/raw",
        "raw_path": b"/raw",
        "query_string": b"",
        "headers": [(b"transfer-encoding", b"chunked")],
        "http_version": "1.1",
        "scheme": "http",
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1),
        "root_path": "",
        "asgi": {"version": "3.0"},
    }
    await bounded(scope, receive, send)
    assert len(statuses) == 1
    return statuses[0]
