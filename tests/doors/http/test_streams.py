"""Event streams end after a while, and go on where the client was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request

from pagekeep.doors.http.middleware.connections import STREAMING
from pagekeep.doors.http.streams import MAX_OF_USER, Event, Streams


def request(last: str = "") -> Request:
    headers = [(b"last-event-id", last.encode())] if last else []
    return Request({"type": "http", "method": "GET", "path": "/", "headers": headers, "state": {}})


async def states(*names: str, then: float = 0.0) -> AsyncIterator[Event]:
    for name in names:
        yield name, {"state": name}
    await asyncio.sleep(then)


class Wire:
    """What is sent to a client that stays."""

    def __init__(self) -> None:
        self.status = 0
        self.text = ""
        self.complete = False

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.text += message.get("body", b"").decode()
            self.complete = not message.get("more_body", False)

    async def receive(self) -> Any:
        await asyncio.sleep(3600)

    async def run(self, streams: Streams, asked: Request, events: AsyncIterator[Event], user: str = "ada") -> None:
        await streams.respond(asked, user, events)(asked.scope, self.receive, self.send)

    @property
    def ids(self) -> list[str]:
        return [line.removeprefix("id: ") for line in self.text.split("\r\n") if line.startswith("id: ")]


def test_a_stream_ends_by_itself_and_is_no_longer_counted() -> None:
    streams, wire = Streams(max_seconds=0.05), Wire()
    asked = request()
    asyncio.run(wire.run(streams, asked, states("a", then=3600)))
    assert (wire.status, wire.complete, "event: a" in wire.text) == (200, True, True)
    assert STREAMING in asked.scope["state"]
    assert not streams.open


def test_a_client_that_comes_back_gets_what_is_new() -> None:
    streams, first, second = Streams(), Wire(), Wire()
    asyncio.run(first.run(streams, request(), states("a", "b")))
    assert len(set(first.ids)) == 2
    asyncio.run(second.run(streams, request(first.ids[-1]), states("b", "c")))
    assert ("event: b" in second.text, "event: c" in second.text) == (False, True)


def test_a_user_has_a_few_streams_and_others_have_theirs() -> None:
    async def run() -> None:
        streams = Streams()
        wires = [Wire() for _ in range(MAX_OF_USER + 3)]
        tasks = [asyncio.create_task(wire.run(streams, request(), states("a", then=3600))) for wire in wires]
        while sum(wire.status != 0 for wire in wires) < len(wires):
            await asyncio.sleep(0.01)
        assert sorted(wire.status for wire in wires) == [200] * MAX_OF_USER + [429] * 3
        other = Wire()
        await other.run(streams, request(), states("a"), user="grace")
        assert other.status == 200
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert not streams.open

    asyncio.run(run())
