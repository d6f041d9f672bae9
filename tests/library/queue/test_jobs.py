"""The address of a page that is being saved without the queue is in the queue until the page is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from pagekeep.capture.from_url import Request
from pagekeep.errors import FetchHttpError, PagekeepError, StoreError
from pagekeep.library.queue import SaveRequest, hold_job
from pagekeep.model import SaveResult
from pagekeep.store import Store
from tests.site.fixtures import Shore, article

URL = "https://example.com/page"
Keep = Callable[..., SaveResult]


def states(library: Store) -> list[str]:
    return [job.state for job in library.jobs.list()]


def test_the_address_waits_while_its_page_is_saved(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(100)
    seen: list[list[str]] = []
    keep(shore.url("a"), tags=("harbour",), progress=lambda _stage: seen.append(states(library)))
    assert seen
    assert all(found == ["running"] for found in seen)
    assert states(library) == []
    seen.clear()
    keep(shore.url("a"), progress=lambda _stage: seen.append(states(library)))
    assert all(found == [] for found in seen), "an item has the address"


def test_a_page_that_cannot_be_had_is_a_bookmark_and_not_a_job(keep: Keep, shore: Shore, library: Store) -> None:
    shore.statuses["a"] = 404
    with pytest.raises(FetchHttpError):
        keep(shore.url("a"))
    assert states(library) == []
    assert library.items.by_url(shore.url("a")) is not None


@pytest.mark.parametrize(
    ("error", "left"),
    [(PagekeepError("No."), []), (StoreError("The disk is full."), ["queued"]), (ZeroDivisionError(), ["queued"])],
)
def test_what_is_left_of_a_save_that_fails(library: Store, error: Exception, left: list[str]) -> None:
    async def fail() -> None:
        async with hold_job(SaveRequest(Request(URL)), library):
            raise error

    with pytest.raises(type(error)):
        asyncio.run(fail())
    assert states(library) == left


@pytest.mark.parametrize("steps", range(4))
def test_a_save_that_is_cancelled_leaves_its_address_at_any_step(library: Store, steps: int) -> None:
    async def cancel() -> None:
        held = asyncio.Event()

        async def work() -> None:
            async with hold_job(SaveRequest(Request(URL), tags=("harbour",)), library):
                held.set()
                await asyncio.sleep(60)

        task = asyncio.create_task(work())
        for _ in range(steps):
            await asyncio.sleep(0)
        if steps == 3:
            await held.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert states(library) == (["queued"] if steps else []), "a task that is cancelled before it began has done nothing"
    assert all(job.options == {"tags": ["harbour"]} for job in library.jobs.list())


def test_a_save_by_a_job_holds_no_second_one(keep: Keep, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(100)
    seen: list[list[str]] = []
    keep(shore.url("a"), keep_failed=False, progress=lambda _stage: seen.append(states(library)))
    assert seen
    assert all(found == [] for found in seen)
