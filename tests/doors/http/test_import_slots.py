"""How many imports there are at once."""

from __future__ import annotations

import asyncio
from threading import Event

import pytest

from pagekeep.doors.http.user_limits import ImportSlots
from pagekeep.errors import TooManyRequests


def test_one_too_many_is_reported_and_there_is_room_again_when_one_is_done() -> None:
    imports, go = ImportSlots(max_imports=1), Event()

    async def run() -> None:
        first = asyncio.ensure_future(imports.run("ada", lambda: go.wait(20)))
        await asyncio.sleep(0)
        with pytest.raises(TooManyRequests):
            await imports.run("bo", lambda: True)
        go.set()
        assert await first
        assert await imports.run("bo", lambda: "again") == "again"

    asyncio.run(run())
    imports.close()


def test_a_request_that_is_given_up_keeps_its_place_until_its_thread_has_ended() -> None:
    imports, began, go, ended = ImportSlots(max_imports=1), Event(), Event(), Event()

    def work() -> None:
        began.set()
        go.wait(20)

    async def run() -> None:
        first = asyncio.ensure_future(imports.run("ada", work))
        await asyncio.to_thread(began.wait, 20)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        with pytest.raises(TooManyRequests):
            await imports.run("ada", ended.set)
        go.set()
        while not ended.is_set():
            try:
                await imports.run("ada", ended.set)
            except TooManyRequests:
                await asyncio.sleep(0.01)

    asyncio.run(run())
    imports.close()


def test_one_user_cannot_take_the_slot_of_another() -> None:
    imports, go = ImportSlots(max_imports=2), Event()

    async def run() -> None:
        first = asyncio.ensure_future(imports.run("ada", lambda: go.wait(20)))
        await asyncio.sleep(0)
        with pytest.raises(TooManyRequests, match="Your other import"):
            imports.check("ada")
        assert await imports.run("bo", lambda: "done") == "done"
        go.set()
        assert await first

    asyncio.run(run())
    imports.close()


def test_a_failure_is_the_callers() -> None:
    imports = ImportSlots()

    def fail() -> None:
        raise ValueError("no")

    for _ in range(3):
        with pytest.raises(ValueError, match="no"):
            asyncio.run(imports.run("ada", fail))
    imports.close()
