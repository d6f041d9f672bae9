"""Libraries kept open for the next request, and no longer than there is room."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from threading import Event

import pytest
from fastapi.testclient import TestClient

from pagekeep import clock
from pagekeep.config import Settings
from pagekeep.doors.http import service
from pagekeep.doors.http.api import jobs
from pagekeep.doors.http.open_libraries import OpenLibraries
from pagekeep.errors import StoreError
from pagekeep.identity import accounts as app
from pagekeep.store import open_store
from tests.doors.http.conftest import PASSWORD, service_of


@dataclass
class Shelf:
    """A library that says whether it is open."""

    user: str
    is_open: bool = True

    def close(self) -> None:
        self.is_open = False


@pytest.fixture
def opened() -> list[Shelf]:
    return []


@pytest.fixture
def libraries(opened: list[Shelf]) -> OpenLibraries:
    def make(user: str) -> Shelf:
        opened.append(Shelf(user))
        return opened[-1]

    return OpenLibraries(make, max_open=1)  # type: ignore[arg-type]


def test_a_library_in_use_stays_open_and_is_closed_when_it_comes_back(
    libraries: OpenLibraries, opened: list[Shelf]
) -> None:
    async def run() -> None:
        async with libraries.borrow("ada"):
            async with libraries.borrow("grace"), libraries.borrow("ada"):
                assert [shelf.is_open for shelf in opened] == [True, True]
            assert [shelf.is_open for shelf in opened] == [True, False]
        assert [shelf.is_open for shelf in opened] == [True, False]

    asyncio.run(run())


def test_the_last_one_used_is_kept_for_the_next_request(libraries: OpenLibraries, opened: list[Shelf]) -> None:
    async def run() -> None:
        for user in ("ada", "ada", "grace", "ada"):
            async with libraries.borrow(user):
                pass

    asyncio.run(run())
    assert [(shelf.user, shelf.is_open) for shelf in opened] == [("ada", False), ("grace", False), ("ada", True)]
    libraries.close()
    assert not opened[-1].is_open


def test_one_that_takes_long_to_open_delays_no_other_user_and_is_opened_once() -> None:
    go = Event()
    opened: list[str] = []

    def make(user: str) -> Shelf:
        opened.append(user)
        if user == "slow":
            assert go.wait(20)
        return Shelf(user)

    libraries = OpenLibraries(make)  # type: ignore[arg-type]

    async def borrow(user: str) -> object:
        async with libraries.borrow(user) as library:
            return library

    async def run() -> None:
        await borrow("ada")
        waiting = [asyncio.ensure_future(borrow("slow")) for _ in range(3)]
        await asyncio.sleep(0)
        await borrow("ada")
        await borrow("grace")
        waiting[1].cancel()  # one who goes takes nothing from the others
        await asyncio.sleep(0)
        go.set()
        first, _, last = await asyncio.gather(*waiting, return_exceptions=True)
        assert isinstance(first, Shelf)
        assert first is last

    asyncio.run(run())
    assert sorted(opened) == ["ada", "grace", "slow"]  # in threads, which start in any order


def test_a_library_that_could_not_be_opened_is_tried_again() -> None:
    tries: list[str] = []

    def make(user: str) -> Shelf:
        tries.append(user)
        if len(tries) == 1:
            raise StoreError("Not now.")
        return Shelf(user)

    libraries = OpenLibraries(make)  # type: ignore[arg-type]

    async def borrow() -> Shelf:
        async with libraries.borrow("ada") as library:
            return library  # type: ignore[return-value]

    async def run() -> None:
        failed = await asyncio.gather(borrow(), borrow(), return_exceptions=True)
        assert [type(one) for one in failed] == [StoreError, StoreError]
        assert (await borrow()).is_open
        assert not libraries.in_use("ada")

    asyncio.run(run())
    libraries.close()


def test_a_stream_goes_on_while_others_come(
    settings: Settings, serve: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With room for one library: that of a client that watches a job is not closed under the stream."""
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(service, "OpenLibraries", partial(OpenLibraries, max_open=1))
    client = serve(replace(settings, shared=True))
    accounts = service_of(client).accounts
    ada, grace = (app.add_user(accounts, name, PASSWORD).id for name in ("ada", "grace"))
    headers = {user: {"authorization": f"Bearer {app.add_token(accounts, user, 'it').secret}"} for user in (ada, grace)}
    later = clock.add_seconds(clock.now(), 3600)
    with closing(open_store(settings.library, ada)) as library, ThreadPoolExecutor() as beside:
        job = library.jobs.add("https://example.com/", "https://example.com/", {}, later)
        watching = beside.submit(client.get, f"/api/v1/jobs/{job.id}/events", headers=headers[ada])
        while not service_of(client).libraries.in_use(ada):
            assert not watching.done()
        for _ in range(3):
            assert client.get("/api/v1/items", headers=headers[grace]).status_code == 200
        library.jobs.lease("hand", later, clock.add_seconds(later, 60))
        library.jobs.finish(job.id, "hand")
        assert "event: done" in watching.result(20).text
    assert not service_of(client).libraries.in_use(ada)
