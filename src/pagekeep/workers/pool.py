"""Several workers: many jobs in order with all of them busy, or one job at a time from any thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from queue import SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple

from pagekeep.errors import PagekeepError
from pagekeep.workers.worker import Limits, Worker


class Answer(NamedTuple):
    """What became of a job: its result, or the error it met with."""

    job: Any
    result: Any
    error: PagekeepError | None


class Pool:
    """`count` children that run `task` ("module:function"); a context manager. Each child serves one thread at a time."""

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

    def close(self) -> None:
        """End the children; what they were doing is lost."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.interrupt()
        self._threads.shutdown()
        for worker in self._workers:
            worker.close()

    def run(self, job: Any) -> Any:
        """The result of one job, waiting for a child that is free; its error is raised."""
        ((_, result, error),) = self._batch([job])
        if error is not None:
            raise error
        return result

    def map(self, jobs: Iterable[Any], *, batch: int = 16) -> Iterator[Answer]:
        """An answer for each job, in the order of the jobs; never more than two batches a child are read ahead."""
        return self.map_batches(_batches(jobs, batch))

    def map_batches(self, batches: Iterable[Sequence[Any]]) -> Iterator[Answer]:
        """The same for jobs that come in batches: those of one batch are done by one child."""
        batches = iter(batches)
        waiting: deque[Future[list[Answer]]] = deque()
        for first in islice(batches, 2 * len(self._workers)):
            waiting.append(self._threads.submit(self._batch, first))
        while waiting:
            answers = waiting.popleft().result()
            following = next(batches, None)
            if following is not None:
                waiting.append(self._threads.submit(self._batch, following))
            yield from answers

    def _batch(self, jobs: Sequence[Any]) -> list[Answer]:
        worker = self._idle.get()
        try:
            return [Answer(job, *answer) for job, answer in zip(jobs, worker.ask(jobs), strict=True)]
        finally:
            self._idle.put(worker)


def _batches(jobs: Iterable[Any], size: int) -> Iterator[list[Any]]:
    rest = iter(jobs)
    while batch := list(islice(rest, size)):
        yield batch
