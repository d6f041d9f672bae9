"""Saves, and other tasks, that wait: put in the queue, and worked on by any number of workers, each job by one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from pagekeep import clock
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.errors import (
    BlockedAddress,
    FetchHttpError,
    InvalidProtocol,
    InvalidUrl,
    NotFound,
    PagekeepError,
    ParseError,
    TooLarge,
    UnsupportedContent,
)
from pagekeep.library import normal_url
from pagekeep.library.reparse.many import TASK, reparse_job
from pagekeep.library.save import save
from pagekeep.model import Job, SaveResult
from pagekeep.store import Store

LEASE_SECONDS: Final = 120.0
"""A job whose worker is silent for so long goes to another. A page takes 45 seconds at most."""
POLL_SECONDS: Final = 1.0
MOST_ATTEMPTS: Final = 5
FIRST_PAUSE: Final = 30.0
LONGEST_PAUSE: Final = 6 * 3600.0

_HOPELESS: Final = (InvalidUrl, InvalidProtocol, BlockedAddress, TooLarge, UnsupportedContent, ParseError)
_PASSING_STATUSES: Final = frozenset({408, 425, 429})
"""Refusals that end by themselves; every other 4xx stays."""


@dataclass(frozen=True, slots=True)
class Worked:
    """What became of one turn at a job."""

    job: Job
    saved: SaveResult | None
    error: Mapping[str, Any] | None
    """JSON form of the failure."""
    retry_at: str | None
    """When it is tried again; without one a failed job is with the dead letters."""
    report: Mapping[str, Any] | None = None
    """What there is to tell of a job that is no save."""
    so_far: Mapping[str, Any] | None = None
    """How far it is, when only a part was done: the rest waits its turn."""


def enqueue(request: Request, store: Store, *, tags: tuple[str, ...] = (), force: bool = False) -> Job:
    """A job for the page; the one there is when this page already waits. `InvalidUrl` at once for what is no address."""
    options: dict[str, Any] = {"render": request.render, "wait_for": request.wait_for, "tags": list(tags)}
    if force:
        options["force"] = True
    kept = {name: value for name, value in options.items() if value}
    return store.enqueue(normal_url.normalise(request.url), request.url, kept, clock.now())


def _unwatched(_job: Job, _stage: str) -> None:
    """Nobody watches."""


def _unheard() -> None:
    """Nobody minds."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Takes jobs from the queue and does them, several at a time."""

    name: str
    """Unique among all workers that run."""
    queue: Store
    """Opened for workers: sees every user's jobs."""
    open_library: Callable[[str], Store]
    """The library of a user, closed after the job."""
    retrieval: Retrieval
    tell: Callable[[Worked], None]
    lease_seconds: float = LEASE_SECONDS
    poll_seconds: float = POLL_SECONDS
    progress: Callable[[Job, str], None] = _unwatched
    """Told what is being done for a job."""
    idle: Callable[[], None] = _unheard
    """Told, again and again, that no job is due or under way."""
    busy: set[str] = field(default_factory=set)
    """Jobs under way."""
    nudged: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by whoever has put a job in, so that it is looked for at once."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Once set no further job is begun, and `run` returns when those under way are done."""

    async def run(self, *, at_a_time: int = 4, until_empty: bool = False) -> None:
        """Work until cancelled or, with `until_empty`, until no job is due. `StoreError` when the queue itself fails."""
        try:
            async with asyncio.TaskGroup() as lanes:
                for _ in range(at_a_time):
                    lanes.create_task(self._lane(until_empty))
        except ExceptionGroup as failures:  # one fault of the store ends all lanes: it is told once
            raise failures.exceptions[0] from None

    async def _lane(self, until_empty: bool) -> None:
        while not self.stopping.is_set():
            job = await self._leased()
            if job is not None:
                self.busy.add(job.id)
                try:
                    await self._turn(job)
                finally:
                    self.busy.discard(job.id)
            elif until_empty:
                return
            else:
                if not self.busy:
                    self.idle()
                await self._nap()

    async def _leased(self) -> Job | None:
        """The next job, asked for in a thread; one that comes when we are told to stop goes back."""
        now = clock.now()
        until = clock.after(now, self.lease_seconds)
        leasing = asyncio.ensure_future(asyncio.to_thread(self.queue.lease, self.name, now, until))
        try:
            return await asyncio.shield(leasing)
        except asyncio.CancelledError:
            job = await leasing
            if job is not None:
                self._put_back(job)
            raise

    async def _nap(self) -> None:
        """Until a job may be there, or it is time to stop."""
        self.nudged.clear()
        waits = [asyncio.ensure_future(event.wait()) for event in (self.nudged, self.stopping)]
        try:
            await asyncio.wait(waits, timeout=self.poll_seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _put_back(self, job: Job) -> None:
        """No need for the next worker to wait until the lease runs out."""
        self.queue.fail(job.id, self.name, _told("Interrupted", "The worker was stopped."), retry_at=clock.now())

    async def _turn(self, job: Job) -> None:
        """One try, with a heartbeat beside it; when the lease is lost, another worker has the job and this one lets go."""
        trying = asyncio.create_task(self._try(job))
        beating = asyncio.create_task(self._beat(job))
        try:
            await asyncio.wait({trying, beating}, return_when=asyncio.FIRST_COMPLETED)
            if not trying.done():
                return
            worked = trying.result()
            if await asyncio.to_thread(self._settle, worked) and worked.so_far is None:
                self.tell(worked)
        except asyncio.CancelledError:
            self._put_back(job)
            raise
        finally:
            trying.cancel()
            beating.cancel()
            await asyncio.gather(trying, beating, return_exceptions=True)

    async def _beat(self, job: Job) -> None:
        """Extend the lease again and again; return only when it is lost."""
        while True:
            await asyncio.sleep(self.lease_seconds / 3)
            until = clock.after(clock.now(), self.lease_seconds)
            if not await asyncio.to_thread(self.queue.heartbeat, job.id, self.name, until):
                return

    async def _try(self, job: Job) -> Worked:
        if job.attempts > MOST_ATTEMPTS:  # its workers were killed each time: it may well be what kills them
            return _failed(
                job, _told("Abandoned", f"No worker finished it in {MOST_ATTEMPTS} attempts."), hopeless=True
            )
        try:
            with closing(await asyncio.to_thread(self.open_library, job.user_id)) as library:
                return await self._do(job, library)
        except PagekeepError as error:
            return _failed(job, error.to_json()["error"], hopeless=_is_hopeless(error))
        except Exception as error:  # a fault of ours must not end the worker; the job and the dead letters show it
            return _failed(job, _told("Unexpected", f"{type(error).__name__}: {error}"), hopeless=False)

    async def _do(self, job: Job, library: Store) -> Worked:
        def progress(stage: str) -> None:
            self.progress(job, stage)

        if job.options.get("task") == TASK:
            done = await reparse_job(job, library, self.retrieval, progress)
            return Worked(job, None, None, None, report=done.report, so_far=done.so_far)
        saved = await save(
            Request(job.url_full, render=job.options.get("render"), wait_for=job.options.get("wait_for")),
            library,
            self.retrieval,
            tags=tuple(job.options.get("tags", ())),
            force=bool(job.options.get("force")),
            progress=progress,
        )
        return Worked(job, saved, None, None)

    def _settle(self, worked: Worked) -> bool:
        """Tell the queue; False when the lease was lost and another worker has the last word."""
        if worked.so_far is not None:
            return self.queue.put_back(worked.job.id, self.name, worked.so_far, clock.now())
        if worked.error is None:
            made = worked.saved.item.id if worked.saved else None
            return self.queue.finish(worked.job.id, self.name, made, worked.report)
        return self.queue.fail(worked.job.id, self.name, worked.error, retry_at=worked.retry_at)


def pause_after(attempts: int) -> float:
    """Seconds to wait after so many attempts: four times as long each time, to a limit."""
    return float(min(FIRST_PAUSE * 4 ** max(0, min(attempts, 20) - 1), LONGEST_PAUSE))


def _failed(job: Job, error: Mapping[str, Any], *, hopeless: bool) -> Worked:
    if hopeless or job.attempts >= MOST_ATTEMPTS:
        return Worked(job, None, error, None)
    return Worked(job, None, error, clock.after(clock.now(), pause_after(job.attempts)))


def _is_hopeless(error: PagekeepError) -> bool:
    if isinstance(error, FetchHttpError):
        return 400 <= error.status < 500 and error.status not in _PASSING_STATUSES
    return isinstance(error, _HOPELESS)


def _told(kind: str, message: str) -> dict[str, Any]:
    return {"type": kind, "message": message, "suggestions": []}


def revive(store: Store, key: str) -> Job:
    """A dead job, by its id or the beginning of it, back to the queue."""
    found = [job for job in store.jobs("dead", limit=10_000) if job.id.startswith(key)]
    if len(found) != 1:
        raise NotFound(
            f"There is {'no' if not found else 'more than one'} dead job {key!r}.",
            suggestions=("Look at the jobs in the state `dead`.",),
        )
    return store.revive(found[0].id, clock.now())
