"""Running the jobs of the queue, in `pagekeep work` and in servers: any number of processes can, each job in one at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any, Final, TypeVar

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.errors import Abandoned, DatabaseUnreachable, PagekeepError, StoreError, Unexpected
from pagekeep.library import normal_url, watch, webhooks
from pagekeep.library.archive import copies, dead_links, timestamps
from pagekeep.library.archive import keep_pictures as pictures
from pagekeep.library.crawl import crawls, settle
from pagekeep.library.crawl.worker import CrawlRunner
from pagekeep.library.feeds import inbox, mail_sources, poll, subscriptions
from pagekeep.library.feeds import mail_poll as mail
from pagekeep.library.imports import run as imports
from pagekeep.library.items import change
from pagekeep.library.open import open_library, outlast
from pagekeep.library.queue import (
    LEASE_SECONDS,
    MAX_LEASE_SECONDS,
    MAX_PAUSE,
    RETRY_SECONDS,
    ProgressBoard,
    SaveRequest,
    SliceResult,
    pause_after,
    run_until,
    start_due,
    worker_name,
)
from pagekeep.library.saving import reparse
from pagekeep.library.saving.failed_saves import can_pass, error_shape, keep_address
from pagekeep.library.saving.save import save
from pagekeep.library.sinks.runner import SinkRunner
from pagekeep.model import Job, SaveResult
from pagekeep.store import Store
from pagekeep.workers import Client, current_client

T = TypeVar("T")
_log: Final = logging.getLogger("pagekeep.jobs")
POLL_SECONDS: Final = 1.0
"""How often the queue is checked for jobs of other processes."""
MAX_ATTEMPTS: Final = 5
FIRST_PAUSE: Final = 30.0
"""Seconds before the second attempt; each later pause is four times as long: 30 s, 2 min, 8 min, 32 min."""


_Task = Callable[[Job, Store, Retrieval, Callable[[str], None]], Awaitable[SliceResult]]
_TASKS: Final[dict[str, _Task]] = {
    reparse.TASK: reparse.reparse_job,
    change.TASK: partial(change.bulk_job, reparse=reparse.reparse_one),
    imports.TASK: imports.import_job,
    pictures.TASK: pictures.pictures_job,
    copies.TASK: copies.copies_job,
    settle.SAVE_TASK: crawls.save_job,
    watch.TASK: watch.watch_job,
    dead_links.TASK: dead_links.links_job,
    webhooks.TASK: webhooks.deliver_job,
    dead_links.SUBMIT_TASK: dead_links.submit_job,
    timestamps.TASK: timestamps.timestamp_job,
    inbox.KEEP_TASK: inbox.keep_job,
    mail_sources.TASK: mail.poll_job,
    subscriptions.TASK: poll.feeds_job,
}
"""Jobs that are not saves, by the `task` in their options."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of running a job once."""

    job: Job
    saved: SaveResult | None
    error: Mapping[str, Any] | None
    """JSON form of the failure."""
    retry_at: str | None
    """When it is retried; a failed job without it is dead."""
    report: Mapping[str, Any] | None = None
    """The report of a job that is not a save."""
    counts: bool = True
    """Whether a failure counts as an attempt: a full disk is not the job's fault."""
    so_far: Mapping[str, Any] | None = None
    """Progress of a job that is only partly done and goes back to the queue."""


def _ignore_progress(_job: Job, _stage: str) -> None:
    """Show no progress."""


def _ignore_idle() -> None:
    """Do nothing while the queue is empty."""


@dataclass(frozen=True, slots=True)
class JobRunner:
    """Takes jobs from the queue and runs them, several at a time."""

    name: str
    """Unique among all runners."""
    queue: Store
    """Opened for workers: sees the jobs of all users."""
    open_library: Callable[[str], Store]
    """Opens the library of a user; it is closed after the job."""
    retrieval: Retrieval
    report: Callable[[JobResult], None]
    """Called with the result of each job."""
    lease_seconds: float = LEASE_SECONDS
    poll_seconds: float = POLL_SECONDS
    progress: Callable[[Job, str], None] = _ignore_progress
    """Called with each stage of a job."""
    idle: Callable[[], None] = _ignore_idle
    """Called at each check of the queue while no job is due or running."""
    busy: set[str] = field(default_factory=set)
    """Ids of running jobs."""
    asking: set[int] = field(default_factory=set)
    """Lanes that are asking the queue: one of them may already have a job that `busy` does not show yet."""
    nudged: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by code that added a job, so that the queue is checked at once."""
    unsettled: dict[str, Callable[[], object]] = field(default_factory=dict)
    """How to store the results of jobs, by id, whose results the queue could not store; they are still leased to us."""
    starts_at: list[float] = field(default_factory=lambda: [0.0])
    """When schedules are looked at next, by the clock of the loop."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """When set, no more jobs are started, and `run` returns when the running ones are done."""

    async def run_on(self, on_failure: Callable[[StoreError], None], *, at_a_time: int = 4) -> None:
        """Run jobs until stopped. While the queue fails, as on a full disk, try again."""
        while not self.stopping.is_set():
            try:
                await self.run(at_a_time=at_a_time)
            except StoreError as error:
                if self.stopping.is_set():
                    raise
                on_failure(error)
                await asyncio.sleep(RETRY_SECONDS)

    async def run(self, *, at_a_time: int = 4, until_empty: bool = False) -> None:
        """Run jobs until cancelled or, with `until_empty`, until no job is due. `StoreError` when the queue itself fails.

        A database server that does not answer is waited for: running jobs go on meanwhile, and their results are kept.
        """
        await self._outlast(self._settle_unsettled)
        try:
            async with asyncio.TaskGroup() as lanes:
                for number in range(at_a_time):
                    lanes.create_task(self._lane(number, until_empty))
        except ExceptionGroup as failures:  # one fault of the store ends all lanes: report it once
            raise failures.exceptions[0] from None

    async def _lane(self, number: int, until_empty: bool) -> None:
        while not self.stopping.is_set():
            self.asking.add(number)
            try:
                job = await outlast(self._lease, self.stopping)
            finally:
                self.asking.discard(number)
            if job is not None:
                self.busy.add(job.id)
                try:
                    await self._run_job(job)
                finally:
                    self.busy.discard(job.id)
            elif until_empty:
                return
            else:
                if not self.busy and not self.asking:
                    self.idle()
                await self._wait()

    async def _lease(self) -> Job | None:
        """Lease the next job in a thread; one that arrives after cancellation goes back to the queue."""
        await self._start_due()
        now = clock.now()
        until = clock.add_seconds(now, self.lease_seconds)
        limits = {
            "lease_limit": clock.add_seconds(now, MAX_LEASE_SECONDS),
            "retry_limit": clock.add_seconds(now, MAX_PAUSE + MAX_LEASE_SECONDS),
        }
        leasing = asyncio.ensure_future(asyncio.to_thread(self.queue.jobs.lease, self.name, now, until, **limits))
        try:
            return await asyncio.shield(leasing)
        except asyncio.CancelledError:
            job = await leasing
            if job is not None:
                self._put_back(job)
            raise

    async def _start_due(self) -> None:
        """Turn the schedules that are due into jobs, at most once per second."""
        loop_time = asyncio.get_running_loop().time()
        if loop_time >= self.starts_at[0]:
            self.starts_at[0] = loop_time + POLL_SECONDS
            await asyncio.to_thread(start_due, self.queue)

    async def _wait(self) -> None:
        """Wait until a job may be due, or it is time to stop."""
        self.nudged.clear()
        waits = [asyncio.ensure_future(event.wait()) for event in (self.nudged, self.stopping)]
        try:
            await asyncio.wait(waits, timeout=self.poll_seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _put_back(self, job: Job) -> None:
        """Return the job to the queue at once, before its lease ends; being stopped is not a failed attempt."""
        error = _error("Interrupted", "Pagekeep was stopped while it ran the job.")
        self._store_result(
            job, lambda: self.queue.jobs.fail(job.id, self.name, error, retry_at=clock.now(), counts=False)
        )

    def _store_result(self, job: Job, store: Callable[[], bool]) -> bool:
        """Store what became of a job; when the queue fails, remember how."""
        self.unsettled[job.id] = store
        stored = store()
        self.unsettled.pop(job.id, None)  # after a lost lease another lane of ours may have had the job
        return stored

    def _settle_unsettled(self) -> None:
        for job_id, store in list(self.unsettled.items()):
            store()
            self.unsettled.pop(job_id, None)

    async def _run_job(self, job: Job) -> None:
        """Run the job once, with a heartbeat; when the lease is lost, another process has the job and this one stops."""
        attempt = asyncio.create_task(self._attempt(job))
        heartbeat = asyncio.create_task(self._keep_lease(job))
        try:
            await asyncio.wait({attempt, heartbeat}, return_when=asyncio.FIRST_COMPLETED)
            if not attempt.done():
                return
            result = attempt.result()
            settled = await self._outlast(lambda: self._store_result(job, lambda: self._settle(result)))
            if settled and result.so_far is None:
                _log_failure(result)
                self.report(result)
        except asyncio.CancelledError:
            self._put_back(job)
            raise
        finally:
            attempt.cancel()
            heartbeat.cancel()
            await asyncio.gather(attempt, heartbeat, return_exceptions=True)

    async def _keep_lease(self, job: Job) -> None:
        """Keep extending the lease; return only when it is lost."""
        while True:
            await asyncio.sleep(self.lease_seconds / 3)
            if not await self._outlast(lambda: self._extend_lease(job)):
                return

    def _extend_lease(self, job: Job) -> bool:
        return self.queue.jobs.heartbeat(job.id, self.name, clock.add_seconds(clock.now(), self.lease_seconds))

    async def _outlast(self, call: Callable[[], T]) -> T:
        """Call the store in a thread, and again while its server does not answer."""
        return await outlast(lambda: asyncio.to_thread(call), self.stopping)

    async def _attempt(self, job: Job) -> JobResult:
        current_client.set(Client(job.user_id, "queue"))
        if job.attempts > MAX_ATTEMPTS:  # each process that ran it was killed: the job may be the cause
            abandoned = Abandoned(f"It was not finished in {MAX_ATTEMPTS} attempts.")
            return await asyncio.to_thread(self._fail, job, abandoned)
        try:
            with closing(await asyncio.to_thread(self.open_library, job.user_id)) as library:
                return await self._do(job, library)
        except PagekeepError as error:
            return await asyncio.to_thread(self._fail, job, error)
        except Exception as error:  # a bug must not end the runner; the dead job shows it
            return await asyncio.to_thread(self._fail, job, Unexpected(f"{type(error).__name__}: {error}"))

    def _fail(self, job: Job, error: PagekeepError) -> JobResult:
        """Return the result of a failed attempt. After the last one, the address of the page is kept as a bookmark."""
        away = isinstance(error, DatabaseUnreachable)
        if away or (isinstance(error, StoreError) and self._library_fails()):
            soon = clock.add_seconds(clock.now(), RETRY_SECONDS)
            return JobResult(job, None, error.to_json()["error"], soon, counts=False)
        passing = can_pass(error) and job.attempts < MAX_ATTEMPTS
        retry_at = clock.add_seconds(clock.now(), pause_after(job.attempts, FIRST_PAUSE)) if passing else None
        if retry_at is None and "task" not in job.options:
            try:
                with closing(self.open_library(job.user_id)) as library:
                    tags = tuple(job.options.get("tags", ()))
                    keep_address(library, job.url_full, error, known=library.items.by_url(job.url), tags=tags)
            except StoreError as broken:  # the job stays in the queue, and with it the address
                error, retry_at = broken, clock.add_seconds(clock.now(), pause_after(job.attempts, FIRST_PAUSE))
        return JobResult(job, None, error_shape(error), retry_at)

    def _library_fails(self) -> bool:
        """Return whether the library cannot be written at all, so that every job would fail."""
        try:
            self.queue.probe()
        except StoreError:
            return True
        return False

    async def _do(self, job: Job, library: Store) -> JobResult:
        def progress(stage: str) -> None:
            self.progress(job, stage)

        task = _TASKS.get(str(job.options.get("task")))
        if task is not None:
            done = await task(job, library, self.retrieval, progress)
            return JobResult(job, None, None, None, report=done.report, so_far=done.so_far)
        saved = await save(SaveRequest.of_job(job), library, self.retrieval, progress=progress)
        return JobResult(job, saved, None, None)

    def _settle(self, result: JobResult) -> bool:
        """Store the result in the queue; return False when the lease was lost and another process has the job."""
        if result.so_far is not None:
            return self.queue.jobs.put_back(result.job.id, self.name, result.so_far, clock.now())
        if result.error is None and "schedule" in result.job.options:
            return self.queue.schedules.finish(result.job.id, self.name)
        if result.error is None:
            made = result.saved.item.id if result.saved else None
            return self.queue.jobs.finish(result.job.id, self.name, made, result.report)
        item_id = result.error.get("item_id")
        return self.queue.jobs.fail(
            result.job.id, self.name, result.error, retry_at=result.retry_at, counts=result.counts, item_id=item_id
        )


def _log_failure(result: JobResult) -> None:
    """Write one line about an attempt that failed, with the host and not the whole address."""
    job, error = result.job, result.error
    if error is None:
        return
    fields = {
        "job": job.id,
        "task": job.options.get("task", "save"),
        "user": job.user_id,
        "host": None if "task" in job.options else normal_url.domain(job.url),
        "error": error.get("type"),
        "attempts": job.attempts,
        "retry_at": result.retry_at,
        "state": "queued" if result.retry_at else "dead",
    }
    _log.warning("job failed", extra={"fields": fields})


def _error(kind: str, message: str) -> dict[str, Any]:
    return {"type": kind, "message": message, "suggestions": []}


GRACE_SECONDS: Final = 5.0
"""Seconds that running jobs have to finish when the server stops; then they go back to the queue."""
CRAWL_PAGES: Final = 2
"""Pages of one crawl that a server reads at a time: people who wait come first."""
PROBE_SECONDS: Final = 5.0
"""How long the result of a health check is kept, at least."""
PROBE_SHARE: Final = 100
"""It is kept for this many times as long as the check took, so that checking takes at most 1 % of the time."""


class Background:
    """A job runner, and the board that shows what it does."""

    def __init__(self, runner: JobRunner, board: ProgressBoard, at_a_time: int) -> None:
        self.board = board
        self._runner = runner
        self._at_a_time = at_a_time
        self._probing = Lock()
        self._probe_again_at = 0.0
        self._probe_failure: StoreError | None = None

    def probe(self) -> None:
        """Raise `StoreError` when the library is damaged or cannot be written; the result is kept for some seconds."""
        with self._probing:
            started = monotonic()
            if started >= self._probe_again_at:
                try:
                    self._runner.queue.probe()
                    self._probe_failure = None
                except StoreError as error:
                    self._probe_failure = error
                ended = monotonic()
                self._probe_again_at = ended + max(PROBE_SECONDS, PROBE_SHARE * (ended - started))
            if self._probe_failure is not None:
                raise StoreError(self._probe_failure.message, suggestions=self._probe_failure.suggestions)

    def waiting(self) -> Mapping[str, int]:
        """Return how many jobs of all users are queued, running and dead."""
        return self._runner.queue.jobs.counts()

    def nudge(self) -> None:
        """Check the queue at once: a job was added."""
        self._runner.nudged.set()

    async def work(self) -> None:
        """Run jobs and crawls and deliver to sinks until stopped. A library that cannot be reached is tried again."""
        runner = self._runner
        sinks = SinkRunner(runner.name, runner.queue, runner.open_library, runner.retrieval, stopping=runner.stopping)
        crawls = CrawlRunner(runner.queue, runner.open_library, runner.retrieval, CRAWL_PAGES, stopping=runner.stopping)
        beside = [asyncio.create_task(run_until(runner.stopping, run)) for run in (crawls.run, sinks.run)]
        try:
            await runner.run_on(lambda _error: None, at_a_time=self._at_a_time)
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)

    async def stop(self, task: asyncio.Task[None], grace: float) -> None:
        """Start no more jobs, let running ones finish, and return those that take too long to the queue."""
        self._runner.stopping.set()
        await asyncio.wait({task}, timeout=grace)
        task.cancel()
        with suppress(asyncio.CancelledError, StoreError):
            await task


def schedule_checks(settings: Settings) -> None:
    """Have the addresses of the local user's pages checked; on a shared server, each user's first save does that."""
    if settings.check_links_days and not settings.shared:
        with closing(open_library(settings)) as library:
            dead_links.ensure_schedule(library)


@asynccontextmanager
async def run_in_background(
    settings: Settings,
    retrieval: Retrieval,
    report: Callable[[JobResult], None],
    *,
    at_a_time: int = 4,
    grace: float = GRACE_SECONDS,
) -> AsyncIterator[Background]:
    """Run jobs of all users of the library in the background."""
    board = ProgressBoard()
    queue = await asyncio.to_thread(open_library, settings, workers=True)
    await asyncio.to_thread(schedule_checks, settings)

    def finish(result: JobResult) -> None:
        board.drop(result.job.id)
        report(result)

    runner = JobRunner(
        name=worker_name(),
        queue=queue,
        open_library=lambda user: open_library(settings, user),
        retrieval=retrieval,
        report=finish,
        progress=lambda job, stage: board.put(job.id, stage),
    )
    background = Background(runner, board, at_a_time)
    task = asyncio.create_task(background.work())
    try:
        yield background
    finally:
        await background.stop(task, grace)
        queue.close()
