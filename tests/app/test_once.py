"""Requests that are done once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pagekeep.app.once import fingerprint, once
from pagekeep.errors import Conflict, NotFound
from pagekeep.store import Store


def test_requests_are_told_apart_whatever_the_order_of_their_keys() -> None:
    assert fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2], "a": 1}) != fingerprint({"a": 1, "b": [3]})


def test_a_key_is_done_once_and_without_one_each_time(library: Store) -> None:
    done: list[int] = []

    async def do() -> dict[str, Any]:
        done.append(1)
        return {"number": len(done)}

    async def run() -> list[Any]:
        return [await once(key, {"x": 1}, library, do) for key in ("k", "k", None, None)]

    assert asyncio.run(run()) == [{"number": 1}, {"number": 1}, {"number": 2}, {"number": 3}]


def test_the_same_key_at_the_same_time_is_refused_and_not_done_twice(library: Store) -> None:
    async def run() -> None:
        going = asyncio.Event()

        async def slow() -> dict[str, Any]:
            going.set()
            await asyncio.sleep(0.3)
            return {}

        first = asyncio.ensure_future(once("k", {}, library, slow))
        await going.wait()
        with pytest.raises(Conflict, match="under way"):
            await once("k", {}, library, slow)
        await first

    asyncio.run(run())


def test_what_failed_may_be_asked_for_again(library: Store) -> None:
    async def fail() -> dict[str, Any]:
        raise NotFound("Not there.")

    async def work() -> dict[str, Any]:
        return {"good": True}

    with pytest.raises(NotFound):
        asyncio.run(once("k", {}, library, fail))
    assert asyncio.run(once("k", {}, library, work)) == {"good": True}
