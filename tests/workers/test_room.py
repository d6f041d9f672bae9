"""The worker room, with real processes: limits for each task, fair shares, and cancelled work."""

from __future__ import annotations

import asyncio
import gc
import os
import time
import weakref
from collections.abc import Iterator
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pagekeep.errors import ParseError, TooLarge, TooManyRequests
from pagekeep.workers import Client, Limits, Room, current_client
from pagekeep.workers.worker import Worker
from tests.workers.jobs import Do, Wait

TIGHT = Limits(cpu_seconds=0.5, wall_seconds=60, megabytes=1_000, input_bytes=10_000, result_bytes=10_000)


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    room = Room(2)
    yield room
    room.close()


async def until_exists(*files: Path) -> None:
    async with asyncio.timeout(60):
        while not all(file.exists() for file in files):
            await asyncio.sleep(0.01)


def test_tasks_run_in_other_processes_that_live_on(room: Room) -> None:
    pids = {room.run_blocking(Do("pid")) for _ in range(5)}
    assert os.getpid() not in pids
    assert len(pids) <= 2


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("loop", "took more than 0.5 s of CPU time"),
        ("sleep", "took more than 1 s."),
        ("crash", "memory"),
        ("vanish", "was killed"),
        ("eat", "memory"),
    ],
)
def test_a_task_over_its_limits_gets_an_error_and_the_next_a_new_process(room: Room, bad: str, message: str) -> None:
    limits = replace(TIGHT, wall_seconds=1) if bad == "sleep" else TIGHT  # a busy machine must not end the others first
    with pytest.raises(ParseError) as failed:
        room.run_blocking(Do(bad), limits)
    assert message in failed.value.message
    assert room.run_blocking(Do("echo", "next"), TIGHT) == "next"


def test_a_client_has_its_share_back_only_when_its_dead_process_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    room, running = Room(2), list[int]()
    start = Worker.start

    def count(worker: Worker) -> None:
        running.append(room._queue._running[current_client.get()])
        start(worker)

    monkeypatch.setattr(Worker, "start", count)
    with pytest.raises(ParseError):
        room.run_blocking(Do("vanish"))
    room.close()
    assert running == [1]


def test_limits_are_those_of_the_task(room: Room) -> None:
    assert room.run_blocking(Do("echo", "x" * 20_000)) == "x" * 20_000
    with pytest.raises(TooLarge):
        room.run_blocking(Do("echo", "x" * 20_000), TIGHT)
    wide = Limits(input_bytes=100_000, result_bytes=10_000)
    with pytest.raises(TooLarge):
        room.run_blocking(Do("echo", "x" * 20_000), wide)


def test_errors_of_a_task_arrive_as_they_are(room: Room) -> None:
    with pytest.raises(ParseError) as refused:
        room.run_blocking(Do("refuse"))
    assert refused.value.suggestions == ("Look elsewhere.",)


@pytest.mark.parametrize("what", ["echo", "refuse", "crash"])
def test_nothing_of_a_task_is_kept_after_it(room: Room, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """A page and its result would else stay in the server until the next task, or until objects are collected."""
    kept, submit = list[weakref.ref[object]](), room._submit

    def submit_noted(*given: Any) -> Any:
        job = submit(*given)
        kept.append(weakref.ref(job.result))
        return job

    monkeypatch.setattr(room, "_submit", submit_noted)
    gc.collect()
    gc.disable()
    try:
        with suppress(ParseError):
            asyncio.run(room.run(Do(what, "page"), TIGHT))
        until = time.monotonic() + 20
        while kept[0]() is not None and time.monotonic() < until:
            time.sleep(0.01)  # its thread has a last step to do
        assert kept[0]() is None
    finally:
        gc.enable()


def test_a_client_with_many_tasks_leaves_a_process_to_others(room: Room, tmp_path: Path) -> None:
    async def attack() -> None:
        go_on = tmp_path / "go"
        current_client.set(Client("attacker"))
        tasks = [asyncio.create_task(room.run(Wait(tmp_path / f"{n}", go_on))) for n in range(20)]
        await until_exists(tmp_path / "0")
        current_client.set(Client("reader"))
        for _ in range(5):
            assert await room.run(Do("echo", "read")) == "read"
        assert not (tmp_path / "1").exists()
        go_on.touch()
        await asyncio.gather(*tasks)

    asyncio.run(attack())


def test_a_user_with_several_sign_ins_leaves_a_process_to_others(tmp_path: Path) -> None:
    room = Room(2, shared=True)

    async def attack() -> None:
        go_on = tmp_path / "go"
        tasks = []
        for number in range(8):
            current_client.set(Client("attacker", ("token", "session")[number % 2]))
            tasks.append(asyncio.create_task(room.run(Wait(tmp_path / f"{number}", go_on))))
        await until_exists(tmp_path / "0")
        current_client.set(Client("reader", "session"))
        for _ in range(5):
            assert await room.run(Do("echo", "read")) == "read"
        assert sum((tmp_path / f"{number}").exists() for number in range(8)) == 1
        go_on.touch()
        await asyncio.gather(*tasks)

    try:
        asyncio.run(attack())
    finally:
        room.close()


def test_too_many_tasks_of_a_client_are_refused_and_those_of_others_are_not(tmp_path: Path) -> None:
    room = Room(1, max_waiting=2)

    async def attack() -> None:
        go_on = tmp_path / "go"
        first = asyncio.create_task(room.run(Wait(tmp_path / "0", go_on)))
        await until_exists(tmp_path / "0")
        waiting = [asyncio.create_task(room.run(Do("echo", n))) for n in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(TooManyRequests):
            await room.run(Do("echo", 2))
        current_client.set(Client("another"))
        other = asyncio.create_task(room.run(Do("echo", "other")))
        await asyncio.sleep(0)
        go_on.touch()
        assert await other == "other"
        assert await asyncio.gather(*waiting) == [0, 1]
        await first

    try:
        copy_context().run(asyncio.run, attack())
    finally:
        room.close()


def test_work_ends_when_its_client_goes_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pagekeep.workers.room.GRACE_SECONDS", 0.05)
    room = Room(1)

    async def leave() -> None:
        never = tmp_path / "never"
        running = asyncio.create_task(room.run(Wait(tmp_path / "0", never)))
        await until_exists(tmp_path / "0")
        waiting = asyncio.create_task(room.run(Wait(tmp_path / "1", never)))
        await asyncio.sleep(0)
        waiting.cancel()
        running.cancel()
        await asyncio.wait([running, waiting])
        assert running.cancelled()
        pid = await room.run(Do("pid"))
        assert pid != int((tmp_path / "0").read_text())
        assert not (tmp_path / "1").exists()

    try:
        asyncio.run(leave())
    finally:
        room.close()


def test_closing_the_room_ends_running_and_waiting_tasks(tmp_path: Path) -> None:
    room = Room(1)

    async def close() -> None:
        tasks = [asyncio.create_task(room.run(Wait(tmp_path / f"{n}", tmp_path / "never"))) for n in range(2)]
        await until_exists(tmp_path / "0")
        await asyncio.to_thread(room.close)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(result, ParseError) for result in results)

    asyncio.run(close())
