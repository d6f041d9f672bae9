"""Who gets a slot when."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from pagekeep.capture.screenshots import Slots
from pagekeep.errors import TooManyRequests


class Stage:
    """Those who came, began and ended, by name; the part of a name before the dot is the user."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self.began: list[str] = []
        self._leave: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def come(self, name: str, seconds: float = 20.0) -> None:
        self._leave[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._stay(name, seconds))
        await self._settle()

    async def _stay(self, name: str, seconds: float) -> None:
        async with self._slots.hold(name.partition(".")[0], seconds) as left:
            assert 0 < left <= seconds
            self.began.append(name)
            await self._leave[name].wait()

    async def go(self, *names: str) -> None:
        for name in names:
            self._leave[name].set()
            await self._settle()

    async def _settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)


def play(scene: Callable[[Stage], Awaitable[None]], *, at_once: int = 2, each: int = 1) -> None:
    async def run() -> None:
        stage = Stage(Slots(at_once, per_user=each, max_waiting=3, max_waiting_per_user=2))
        await scene(stage)
        await stage.go(*stage.tasks)
        await asyncio.gather(*stage.tasks.values(), return_exceptions=True)
        await stage.come("last")  # whatever happened, no slot was lost
        assert stage.began[-1] == "last"
        await stage.go("last")

    asyncio.run(run())


def test_one_who_wants_much_leaves_room_for_others() -> None:
    async def scene(stage: Stage) -> None:
        for name in ("ada.1", "ada.2", "ada.3", "grace"):
            await stage.come(name)
        assert stage.began == ["ada.1", "grace"]
        await stage.go("ada.1", "ada.2")
        assert stage.began == ["ada.1", "grace", "ada.2", "ada.3"]

    play(scene)


def test_turns_come_in_order() -> None:
    async def scene(stage: Stage) -> None:
        for name in ("ada", "grace", "kay", "mary"):
            await stage.come(name)
        await stage.go("grace", "ada")
        assert stage.began == ["ada", "grace", "kay", "mary"]

    play(scene)


def test_where_many_wait_the_next_is_asked_to_come_back() -> None:
    async def scene(stage: Stage) -> None:
        for name in ("ada.1", "ada.2", "ada.3", "ada.4", "grace", "kay", "mary"):
            await stage.come(name)
        refused = [name for name, task in stage.tasks.items() if task.done()]
        assert refused == ["ada.4", "mary"]  # two of one user wait, then three in all
        for name in refused:
            with pytest.raises(TooManyRequests):
                stage.tasks[name].result()

    play(scene)


def test_one_that_waits_too_long_or_gives_up_leaves_the_line() -> None:
    async def scene(stage: Stage) -> None:
        for name, seconds in (("ada", 20.0), ("grace", 0.01), ("kay", 20.0), ("mary", 20.0)):
            await stage.come(name, seconds)
        with pytest.raises(TimeoutError):
            await stage.tasks["grace"]
        stage.tasks["kay"].cancel()
        await stage.go("ada")
        assert stage.began == ["ada", "mary"]

    play(scene, at_once=1)


def test_one_who_gives_up_in_the_moment_of_being_called_passes_the_turn_on() -> None:
    async def scene(stage: Stage) -> None:
        for name in ("ada", "grace", "kay"):
            await stage.come(name)
        leaving = asyncio.create_task(stage.go("ada"))
        asyncio.get_running_loop().call_soon(asyncio.get_running_loop().call_soon, stage.tasks["grace"].cancel)
        await leaving
        assert stage.tasks["grace"].cancelled()
        assert stage.began == ["ada", "kay"]

    play(scene, at_once=1)
