"""A pool of workers: runs many jobs in order in parallel, or single jobs from any thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Sized
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Final, NamedTuple

from pagekeep.errors import PagekeepError
from pagekeep.workers.worker import Limits, Worker

MAX_OPEN_BATCHES: Final = 2
"""Batches per worker that are sent and not done: one running, one waiting."""
MAX_BATCHES_AHEAD: Final = 8
"""Batches per worker that are started and not consumed: this far the others go on while one is slow."""


class JobResult(NamedTuple):
    """The result of a job, or its error."""

    result: Any
    error: PagekeepError | None
    job: Any = None
    """The job, only if there is an error: jobs hold pages, which take memory."""


class Pool:
    """`count` workers that run `task` ("module:function"); a context manager. Each worker runs one job at a time."""

    def __init__(self, task: str, count: int, limits: Limits = Limits()) -> None:
        self._workers = [Worker(task, limits) for _ in range(count)]
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="pagekeep-worker")

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def fork(self) -> None:
        """Start the workers as forks of this process, if that is safe: for commands, before they start threads."""
        for worker in self._workers:
            worker.fork()

    def close(self) -> None:
        """End the workers; running jobs are lost."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.interrupt()
        self._threads.shutdown()
        for worker in self._workers:
            worker.close()

    def run(self, job: Any) -> Any:
        """Run one job in a free worker; return its result or raise its error."""
        ((result, error, _),) = self._batch([job])
        if error is not None:
            raise error
        return result

    def map(self, jobs: Iterable[Any], *, batch: int = 16) -> Iterator[JobResult]:
        """Yield a result for each job, in order; `jobs` is read a few batches ahead."""
        return self.map_batches(_batches(jobs, batch))

    def map_batches(self, batches: Iterable[Sequence[Any]]) -> Iterator[JobResult]:
        """Yield a result for each job of the batches, in order; one worker runs a whole batch."""
        rest = iter(batches)
        started: deque[Future[list[JobResult]]] = deque()
        while True:
            running = [future for future in started if not future.done()]
            if self._has_room(started, running) and (following := next(rest, None)) is not None:
                started.append(self._threads.submit(self._batch, following))
            elif not started:
                return
            elif started[0].done():
                yield from started.popleft().result()
            else:
                wait(running, return_when=FIRST_COMPLETED)

    def _has_room(self, started: Sized, running: Sized) -> bool:
        workers = len(self._workers)
        return len(running) < MAX_OPEN_BATCHES * workers and len(started) < MAX_BATCHES_AHEAD * workers

    def _batch(self, jobs: Sequence[Any]) -> list[JobResult]:
        worker = self._idle.get()
        try:
            results = zip(jobs, worker.run(jobs), strict=True)
            return [JobResult(result, error, job if error else None) for job, (result, error) in results]
        finally:
            self._idle.put(worker)


def _batches(jobs: Iterable[Any], size: int) -> Iterator[list[Any]]:
    rest = iter(jobs)
    while batch := list(islice(rest, size)):
        yield batch
