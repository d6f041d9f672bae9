"""Several workers: many jobs in order with all of them busy, or one job at a time from any thread."""

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

_OPEN: Final = 2
"""Batches a child that are asked and not answered: one at work, one at hand."""
_AHEAD: Final = 8
"""Batches a child that are begun and not taken, those answered included: so long the others go on beside one that is slow."""


class Answer(NamedTuple):
    """What became of a job: its result, or the error it met with."""

    result: Any
    error: PagekeepError | None
    job: Any = None
    """Where there is an error. The others are let go, for they hold pages."""


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
        ((result, error, _),) = self._batch([job])
        if error is not None:
            raise error
        return result

    def map(self, jobs: Iterable[Any], *, batch: int = 16) -> Iterator[Answer]:
        """An answer for each job, in the order of the jobs; they are read as they are needed, a few batches ahead."""
        return self.map_batches(_batches(jobs, batch))

    def map_batches(self, batches: Iterable[Sequence[Any]]) -> Iterator[Answer]:
        """The same for jobs that come in batches: those of one batch are done by one child."""
        rest = iter(batches)
        begun: deque[Future[list[Answer]]] = deque()
        while True:
            unanswered = [asked for asked in begun if not asked.done()]
            if self._has_room(begun, unanswered) and (following := next(rest, None)) is not None:
                begun.append(self._threads.submit(self._batch, following))
            elif not begun:
                return
            elif begun[0].done():
                yield from begun.popleft().result()
            else:
                wait(unanswered, return_when=FIRST_COMPLETED)

    def _has_room(self, begun: Sized, unanswered: Sized) -> bool:
        return len(unanswered) < _OPEN * len(self._workers) and len(begun) < _AHEAD * len(self._workers)

    def _batch(self, jobs: Sequence[Any]) -> list[Answer]:
        worker = self._idle.get()
        try:
            answers = zip(jobs, worker.ask(jobs), strict=True)
            return [Answer(result, error, job if error else None) for job, (result, error) in answers]
        finally:
            self._idle.put(worker)


def _batches(jobs: Iterable[Any], size: int) -> Iterator[list[Any]]:
    rest = iter(jobs)
    while batch := list(islice(rest, size)):
        yield batch
