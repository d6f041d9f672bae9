"""Saves that wait, and the workers that do them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from pagekeep import clock
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.errors import InvalidUrl, NotFound
from pagekeep.library.queue import MAX_PAUSE, SaveRequest, enqueue, pause_after, revive_by_prefix
from pagekeep.library.run_jobs import FIRST_PAUSE, MAX_ATTEMPTS, JobResult, JobRunner
from pagekeep.store import Store, open_store
from tests.site.fixtures import Shore, article

Work = Callable[..., list[JobResult]]


@pytest.fixture
def work(tmp_path: Path, settings: Settings) -> Work:
    """A worker that runs until no job is due; what it reported."""

    async def run(name: str) -> list[JobResult]:
        reported: list[JobResult] = []
        path = tmp_path / "library.db"
        with closing(open_store(path, workers=True)) as jobs:
            async with Retrieval(settings) as retrieval:
                worker = JobRunner(name, jobs, lambda user: open_store(path, user), retrieval, reported.append)
                await worker.run(until_empty=True)
        return reported

    return lambda name="worker": asyncio.run(run(name))


def ask(url: str) -> Request:
    return Request(url, render="never")


def test_a_queued_page_is_saved_by_a_worker_with_its_tags(work: Work, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    job = enqueue(SaveRequest(ask(shore.url("a")), tags=("harbour",)), library)
    assert library.items.by_url(shore.url("a")) is None
    (worked,) = work()
    assert worked.error is None
    item = library.items.by_url(shore.url("a"))
    assert item is not None
    assert "harbour" in item.metadata.tags
    assert [(done.id, done.state) for done in library.jobs.list()] == [(job.id, "done")]


def test_a_page_waits_only_once_per_user(shore: Shore, library: Store, tmp_path: Path) -> None:
    first = enqueue(SaveRequest(ask(shore.url("a"))), library)
    assert enqueue(SaveRequest(ask(shore.url("a") + "?utm_source=x#top")), library).id == first.id
    with closing(open_store(tmp_path / "library.db", "another")) as other:
        assert enqueue(SaveRequest(ask(shore.url("a"))), other).id != first.id


def test_what_is_not_an_address_is_not_queued(library: Store) -> None:
    with pytest.raises(InvalidUrl):
        enqueue(SaveRequest(ask("nowhere")), library)
    assert library.jobs.list() == ()


def test_a_worker_saves_into_the_library_of_the_job_s_user(work: Work, shore: Shore, tmp_path: Path) -> None:
    shore.bodies["a"] = article(300)
    with closing(open_store(tmp_path / "library.db", "other")) as other:
        enqueue(SaveRequest(ask(shore.url("a"))), other)
        work()
        assert other.items.by_url(shore.url("a")) is not None
    with closing(open_store(tmp_path / "library.db", "keeper")) as library:
        assert library.items.by_url(shore.url("a")) is None


def test_a_failure_that_may_pass_is_tried_again_later(work: Work, shore: Shore, library: Store) -> None:
    shore.statuses["a"] = 500
    enqueue(SaveRequest(ask(shore.url("a"))), library)
    (worked,) = work()
    assert worked.error is not None
    assert worked.error["type"] == "FetchHttpError"
    (job,) = library.jobs.list("queued")
    assert (job.attempts, job.run_after > clock.now()) == (1, True)
    assert work() == []


def test_a_failure_that_stays_goes_to_the_dead_letters_and_can_be_revived(
    work: Work, shore: Shore, library: Store
) -> None:
    enqueue(SaveRequest(ask(shore.url("a"))), library)
    (worked,) = work()
    assert (worked.retry_at, worked.error and worked.error["type"]) == (None, "FetchHttpError")
    (dead,) = library.jobs.list("dead")
    shore.bodies["a"] = article(300)
    assert revive_by_prefix(library, dead.id[:6]).state == "queued"
    work()
    assert library.items.by_url(shore.url("a")) is not None
    with pytest.raises(NotFound):
        revive_by_prefix(library, dead.id)


def test_pauses_grow_to_a_limit() -> None:
    pauses = [pause_after(attempts, FIRST_PAUSE) for attempts in range(1, 9)]
    assert pauses == sorted(pauses)
    assert pauses[1] == 4 * pauses[0]
    assert pauses[-1] == pause_after(1000, FIRST_PAUSE) == MAX_PAUSE


def test_a_job_that_fails_too_often_is_given_up(work: Work, shore: Shore, library: Store) -> None:
    shore.statuses["a"] = 500
    enqueue(SaveRequest(ask(shore.url("a"))), library)
    past = clock.add_seconds(clock.now(), -10)
    for _ in range(MAX_ATTEMPTS - 1):
        job = library.jobs.lease("test", clock.now(), clock.now())
        assert job is not None
        library.jobs.fail(job.id, "test", {"type": "Test", "message": "no"}, retry_at=past)
    (worked,) = work()
    assert worked.retry_at is None
    assert len(library.jobs.list("dead")) == 1


def test_the_job_of_a_worker_that_died_is_taken_up_by_another(work: Work, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    enqueue(SaveRequest(ask(shore.url("a"))), library)
    now = clock.now()
    assert library.jobs.lease("dead worker", now, clock.add_seconds(now, -1)) is not None
    (worked,) = work()
    assert worked.saved is not None


def test_a_job_that_outlives_every_worker_is_given_up(work: Work, shore: Shore, library: Store) -> None:
    shore.bodies["a"] = article(300)
    enqueue(SaveRequest(ask(shore.url("a"))), library)
    for _ in range(MAX_ATTEMPTS):
        now = clock.now()
        assert library.jobs.lease("dead worker", now, clock.add_seconds(now, -1)) is not None
    (worked,) = work()
    assert worked.error is not None
    assert worked.error["type"] == "Abandoned"
    assert shore.site.asked("/page/a") == 0


def test_a_fault_of_ours_ends_the_attempt_and_not_the_worker(
    shore: Shore, library: Store, tmp_path: Path, settings: Settings
) -> None:
    enqueue(SaveRequest(ask(shore.url("a"))), library)
    reported: list[JobResult] = []

    def broken(_user: str) -> Store:
        raise RuntimeError("a fault")

    async def run() -> None:
        with closing(open_store(tmp_path / "library.db", workers=True)) as jobs:
            async with Retrieval(settings) as retrieval:
                await JobRunner("w", jobs, broken, retrieval, reported.append).run(until_empty=True)

    asyncio.run(run())
    assert reported[0].error is not None
    assert (reported[0].error["type"], reported[0].retry_at is not None) == ("Unexpected", True)


def test_a_worker_that_is_stopped_gives_its_job_back_at_once(
    shore: Shore, library: Store, tmp_path: Path, settings: Settings
) -> None:
    enqueue(SaveRequest(ask(shore.url("a"))), library)
    reached = asyncio.Event()

    async def stop_midway() -> None:
        class Stuck(Retrieval):
            @property
            def client(self):  # type: ignore[no-untyped-def]
                return self

            async def fetch(self, *_args: object, **_named: object) -> None:
                reached.set()
                await asyncio.sleep(60)

        path = tmp_path / "library.db"
        with closing(open_store(path, workers=True)) as jobs:
            async with Stuck(settings) as retrieval:
                worker = JobRunner("w", jobs, lambda user: open_store(path, user), retrieval, lambda _worked: None)
                running = asyncio.create_task(worker.run(at_a_time=1))
                await reached.wait()
                assert library.jobs.list("running")
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

    asyncio.run(stop_midway())
    (job,) = library.jobs.list("queued")
    assert job.run_after <= clock.now()


def test_a_worker_that_lost_its_lease_lets_go(shore: Shore, library: Store, tmp_path: Path, settings: Settings) -> None:
    job = enqueue(SaveRequest(ask(shore.url("a"))), library)
    reported: list[JobResult] = []
    gone = asyncio.Event()

    async def run() -> None:
        class Stuck(Retrieval):
            @property
            def client(self):  # type: ignore[no-untyped-def]
                return self

            async def fetch(self, *_args: object, **_named: object) -> None:
                later = clock.add_seconds(clock.now(), 3600)
                assert library.jobs.lease("thief", later, clock.add_seconds(clock.now(), 120)) is not None
                try:
                    await asyncio.sleep(60)
                finally:
                    gone.set()

        path = tmp_path / "library.db"
        with closing(open_store(path, workers=True)) as jobs:
            async with Stuck(settings) as retrieval:
                worker = JobRunner(
                    "w", jobs, lambda user: open_store(path, user), retrieval, reported.append, lease_seconds=0.05
                )
                running = asyncio.create_task(worker.run(at_a_time=1, until_empty=True))
                await asyncio.wait_for(gone.wait(), 10)
                await running

    asyncio.run(run())
    assert reported == []
    (held,) = library.jobs.list("running")
    assert (held.id, held.leased_by) == (job.id, "thief")


def test_a_runner_is_not_idle_while_a_lane_receives_a_job(
    shore: Shore, settings: Settings, library: Store, tmp_path: Path
) -> None:
    shore.bodies["a"] = article(100)
    enqueue(SaveRequest(ask(shore.url("a"))), library)
    path = tmp_path / "library.db"
    reported: list[str] = []

    async def run() -> None:
        with closing(open_store(path, workers=True)) as jobs:
            leased = jobs.jobs.lease

            def lease_late(*given: Any, **limits: Any) -> Any:
                job = leased(*given, **limits)
                if job is not None:
                    time.sleep(0.3)  # the other lanes have their answers by now
                return job

            jobs.jobs.lease = lease_late  # type: ignore[method-assign]
            async with Retrieval(settings) as retrieval:
                worker = JobRunner(
                    "worker",
                    jobs,
                    lambda user: open_store(path, user),
                    retrieval,
                    lambda result: reported.append("saved"),
                    poll_seconds=0.05,
                    idle=lambda: reported.append("idle"),
                )
                running = asyncio.create_task(worker.run())
                while "saved" not in reported:
                    await asyncio.sleep(0.05)
                running.cancel()
                with suppress(asyncio.CancelledError):
                    await running

    asyncio.run(run())
    assert reported[0] == "saved"
