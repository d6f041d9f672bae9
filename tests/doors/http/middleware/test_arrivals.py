"""Bodies that arrive slowly, and the shares of clients (H6)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pagekeep.doors.http.middleware import arrivals
from pagekeep.doors.http.middleware.arrivals import BUSY, SLOW, TOO_LARGE, Body, Limits, Pool, Rejected


def pool(max_bytes: int = 10**9, max_bodies: int = 4, client_bytes: int = 10**9, client_bodies: int = 2) -> Pool:
    return Pool(max_bytes, max_bodies, client_bytes, client_bodies)


class Sender:
    """A client's body."""

    def __init__(self, pool: Pool, client: str = "ada", limits: Limits | None = None) -> None:
        self.parts: asyncio.Queue[tuple[bytes, bool]] = asyncio.Queue()
        self.body = Body(client, limits or Limits(10**8, 3600), pool, self._receive, self._ignore)
        pool.enter(self.body)
        self.task: asyncio.Task[int] = asyncio.create_task(self._read())

    async def _receive(self) -> dict[str, Any]:
        part, more = await self.parts.get()
        return {"type": "http.request", "body": part, "more_body": more}

    async def _ignore(self, _message: Any) -> None: ...

    async def _read(self) -> int:
        while (await self.body.receive())["more_body"]:
            pass
        return self.body.read

    async def send(self, part: bytes, *, more: bool = True) -> None:
        self.parts.put_nowait((part, more))
        await asyncio.sleep(0.01)

    async def error(self) -> Any:
        with pytest.raises(Rejected):
            await self.task
        return self.body.error


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "PATIENCE_SECONDS", 0.0)


def test_a_body_below_the_minimum_rate_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "GRACE_SECONDS", 0.2)

    async def go() -> Any:
        sender = Sender(pool())
        while not sender.task.done():
            await sender.send(b" ")
        return await sender.error()

    assert asyncio.run(go()) is SLOW


def test_a_pause_ends_even_a_body_that_was_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "MAX_PAUSE_SECONDS", 0.05)

    async def go() -> Any:
        sender = Sender(pool())
        await sender.send(b" " * 10**6)
        return await sender.error()

    assert asyncio.run(go()) is SLOW


def test_time_in_which_the_route_is_busy_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "GRACE_SECONDS", 0.2)

    async def go() -> int:
        sender = Sender(pool())
        await sender.send(b" ")
        sender.task.cancel()
        await asyncio.sleep(0.4)
        sender.parts.put_nowait((b" ", False))
        return await sender._read()

    assert asyncio.run(go()) == 2


def test_the_first_bodies_of_a_client_make_room_for_its_others(impatient: None) -> None:
    async def go() -> list[Any]:
        shared = pool()
        first, second = Sender(shared), Sender(shared)
        other = Sender(shared, "grace")
        await asyncio.sleep(0.01)
        third = Sender(shared)
        ended = await first.error()
        for sender in (second, third, other):
            await sender.send(b"ok", more=False)
        return [ended, await second.task, await third.task, await other.task, shared.arriving]

    assert asyncio.run(go()) == [SLOW, 2, 2, 2, []]


def test_the_client_with_the_most_bodies_makes_room_for_others(impatient: None) -> None:
    async def go() -> list[Any]:
        shared = pool(max_bodies=3)
        grace = Sender(shared, "grace")
        ada = [Sender(shared) for _ in range(2)]
        await asyncio.sleep(0.01)
        new = Sender(shared, "mira")
        ended = await ada[0].error()
        for sender in (grace, ada[1], new):
            await sender.send(b"ok", more=False)
        return [ended, await grace.task, await ada[1].task, await new.task]

    assert asyncio.run(go()) == [SLOW, 2, 2, 2]


def test_bodies_that_arrive_at_once_are_all_accepted() -> None:
    async def go() -> list[int]:
        shared = pool()
        senders = [Sender(shared) for _ in range(20)]
        for sender in senders:
            sender.parts.put_nowait((b"ok", False))
        return [await sender.task for sender in senders]

    assert asyncio.run(go()) == [2] * 20


def test_one_user_cannot_take_the_bytes_of_others() -> None:
    async def go() -> list[Any]:
        shared = pool(max_bytes=100, client_bytes=40)
        first = Sender(shared)
        await first.send(b"x" * 30)
        second = Sender(shared)
        await second.send(b"x" * 30)
        other = Sender(shared, "grace")
        await other.send(b"x" * 30, more=False)
        refused = await second.error()
        shared.leave(second.body)
        await first.send(b"", more=False)
        return [refused, await other.task, await first.task]

    assert asyncio.run(go()) == [BUSY, 30, 30]


def test_a_body_that_is_waited_for_frees_its_bytes_for_others(impatient: None) -> None:
    async def go() -> list[Any]:
        shared = pool(max_bytes=100, client_bytes=40)
        stuck = Sender(shared)
        await stuck.send(b"x" * 30)
        new = Sender(shared)
        await new.send(b"x" * 30, more=False)
        return [await new.task, await stuck.error()]

    assert asyncio.run(go()) == [30, SLOW]


def test_a_body_above_its_limit_is_refused() -> None:
    async def go() -> Any:
        sender = Sender(pool(), limits=Limits(10, 3600))
        await sender.send(b"x" * 11)
        return await sender.error()

    assert asyncio.run(go()) is TOO_LARGE


def test_a_body_can_be_ended_while_its_time_is_up() -> None:
    async def go() -> Any:
        sender = Sender(pool())
        await asyncio.sleep(0.01)
        while not sender.task.done():
            sender.body.end(SLOW)
            await asyncio.sleep(0)
        return await sender.error()

    assert asyncio.run(go()) is SLOW
