"""The worker room: all work on content of others is done in its worker processes, within limits and fairly by client.

The processes stay warm: one serves many tasks, and one that is killed is replaced at once."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import field
from threading import Condition, Lock, Thread
from typing import Any, Final, Generic, NamedTuple, TypeVar

from pagekeep.errors import PagekeepError, ParseError, TooManyRequests
from pagekeep.values import dataclass
from pagekeep.workers import wire
from pagekeep.workers.task import PAGE, Result_co, Sealed, Task, make_worker, open_result, seal
from pagekeep.workers.worker import Limits, Worker, unreadable

TEXT: Final = Limits(
    cpu_seconds=5.0, wall_seconds=20.0, megabytes=1_500, input_bytes=50_000_000, result_bytes=50_000_000
)
"""For showing a text: rendering, comparing, explaining, outlines."""
MAX_WAITING: Final = 64
"""Tasks of one client that wait."""
GRACE_SECONDS: Final = 1.0
"""A running task whose client went away may go on for this long: most are done by then, and a new process takes as long."""


class Client(NamedTuple):
    """Who has an entry: the user, and in what capacity, such as a program with a token or the queue of jobs."""

    user: str = ""
    kind: str = ""


current_client: ContextVar[Client] = ContextVar("current_client", default=Client())  # noqa: B039 a tuple
"""The client whose tasks are run: requests set it. Each user has a share of the room."""


@dataclass(eq=False, slots=True)
class _Job:
    sealed: Sealed
    task: type[Task[Any]]
    limits: Limits
    result: Future[Any] = field(default_factory=Future)
    worker: Worker | None = None
    """While it runs."""
    killed: bool = False


class Room:
    """Worker processes for tasks of many clients; with more than one process, no client has all of them at a time.

    In a room that is `shared` by several users, neither has a user, with all kinds of sign-in together.
    """

    def __init__(self, processes: int, *, shared: bool = False, max_waiting: int = MAX_WAITING) -> None:
        self._workers = [make_worker() for _ in range(processes)]
        share = max(1, processes - 1)
        self._queue: FairQueue[_Job] = FairQueue(
            max_of_user=share if shared else processes, max_of_client=share, max_waiting=max_waiting
        )
        self._threads: list[Thread] = []
        self._lock = Lock()
        """Held when a thread starts, and when a job gets or leaves its worker."""

    def fork(self) -> None:
        """Start the processes as forks of this one, if that is safe: for commands, before they start threads."""
        for worker in self._workers:
            worker.fork()

    async def run(self, task: Task[Result_co], limits: Limits = PAGE) -> Result_co:
        """Run a task and return its result; raise its error, or `ParseError` when it takes too much time or memory.

        Raises `TooLarge` for a task or result over its limit, `TooManyRequests` when too many tasks of the client wait.
        """
        import asyncio  # commands that do not use it start faster

        client = current_client.get()
        job = self._submit(task, limits, client)
        try:
            result: Result_co = await asyncio.wrap_future(job.result)
        except asyncio.CancelledError:
            if not self._queue.remove(client, job):
                asyncio.get_running_loop().call_later(GRACE_SECONDS, self._kill, job)
            raise
        finally:
            del job  # its error refers to this call: both would keep the page until objects are collected
        return result

    def run_blocking(self, task: Task[Result_co], limits: Limits = PAGE) -> Result_co:
        """Run a task as `run` does, and block the calling thread."""
        result: Result_co = self._submit(task, limits, current_client.get()).result.result()
        return result

    def close(self) -> None:
        """End the processes; running and waiting tasks get an error."""
        for job in self._queue.close():
            with suppress(InvalidStateError):  # cancelled by its client
                job.result.set_exception(_ended())
        for worker in self._workers:
            worker.interrupt()
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            worker.close()

    def _submit(self, task: Task[Any], limits: Limits, client: Client) -> _Job:
        job = _Job(seal(task, limits), type(task), limits)
        self._start_threads()
        self._queue.put(client, job)
        return job

    def _start_threads(self) -> None:
        with self._lock:
            if not self._threads:
                for worker in self._workers:
                    thread = Thread(target=self._work, args=(worker,), name="pagekeep-room", daemon=True)
                    self._threads.append(thread)
                    thread.start()

    def _work(self, worker: Worker) -> None:
        """Run jobs in one worker until the room is closed."""
        while (taken := self._queue.take()) is not None:
            client, job = taken
            try:
                if job.result.set_running_or_notify_cancel():
                    self._run(worker, job)
                with suppress(RuntimeError):  # the room was closed
                    worker.restart() if job.killed else worker.start()
            finally:
                # Only now: a client whose jobs kill processes would else take the others while each is replaced.
                self._queue.done(client)
            del taken, job  # this thread would else keep the page and its result until the next job

    def _run(self, worker: Worker, job: _Job) -> None:
        with self._lock:
            job.worker = worker
        try:
            ((data, error),) = worker.run([job.sealed], job.limits)
        except Exception:  # the room was closed
            data, error = None, _ended()
        with self._lock:
            job.worker = None
        if error is not None:  # not raised here: it would refer to this call, and so to the page
            job.result.set_exception(error)
            return
        try:
            job.result.set_result(open_result(job.task, data, None))
        except PagekeepError as fault:
            job.result.set_exception(fault)
        except wire.Malformed as fault:
            job.killed = True  # its worker is replaced
            job.result.set_exception(unreadable(fault))

    def _kill(self, job: _Job) -> None:
        """End a job that is still running."""
        with self._lock:
            if job.worker is not None:
                job.killed = True
                job.worker.kill()


def _ended() -> ParseError:
    return ParseError("The worker process was ended.", suggestions=("Try again.",))


T = TypeVar("T")


class FairQueue(Generic[T]):
    """Entries by client, with limits. Users take turns, and within a user the kinds do. For any number of threads.

    Of the entries that were taken and are not done, a user has at most `max_of_user` and a client at most `max_of_client`:
    more kinds do not give a user a larger share. A client has at most `max_waiting` that were not taken.
    """

    def __init__(self, *, max_of_user: int, max_of_client: int, max_waiting: int) -> None:
        self._max_of_user = max_of_user
        self._max_of_client = max_of_client
        self._max_waiting = max_waiting
        self._waiting: OrderedDict[str, OrderedDict[Client, deque[T]]] = OrderedDict()
        """The user whose turn is next comes first, and the client of a user whose turn is next."""
        self._running: Counter[str | Client] = Counter()
        """By user and by client."""
        self._closed = False
        self._changed = Condition()

    def put(self, client: Client, entry: T) -> None:
        """Add an entry; raise `TooManyRequests` when too many of the client wait already."""
        with self._changed:
            waiting = self._waiting.setdefault(client.user, OrderedDict()).setdefault(client, deque())
            if len(waiting) >= self._max_waiting:
                raise TooManyRequests(
                    f"{len(waiting)} of your pages are waiting to be processed, which is the limit.",
                    suggestions=("Try again when some are done.",),
                )
            waiting.append(entry)
            self._changed.notify()

    def take(self) -> tuple[Client, T] | None:
        """Wait for the next entry and return it with its client; `None` when the queue is closed."""
        with self._changed:
            while not self._closed:
                client = self._next()
                if client is not None:
                    return client, self._pop(client)
                self._changed.wait()
        return None

    def _next(self) -> Client | None:
        """Return the client whose turn it is among those whose share is not used up."""
        for user, clients in self._waiting.items():
            if self._running[user] < self._max_of_user:
                for client in clients:
                    if self._running[client] < self._max_of_client:
                        return client
        return None

    def _pop(self, client: Client) -> T:
        clients = self._waiting[client.user]
        entry = clients[client].popleft()
        clients.move_to_end(client)
        self._waiting.move_to_end(client.user)
        self._forget_empty(client)
        self._running.update((client.user, client))
        return entry

    def _forget_empty(self, client: Client) -> None:
        clients = self._waiting[client.user]
        if not clients[client]:
            del clients[client]
        if not clients:
            del self._waiting[client.user]

    def done(self, client: Client) -> None:
        """Note that an entry that was taken is done."""
        with self._changed:
            self._running.subtract((client.user, client))
            self._running += Counter()  # without those that have none
            self._changed.notify()

    def remove(self, client: Client, entry: T) -> bool:
        """Remove an entry that was not taken yet; return whether it was there."""
        with self._changed:
            waiting = self._waiting.get(client.user, OrderedDict()).get(client, deque())
            if entry not in waiting:
                return False
            waiting.remove(entry)
            self._forget_empty(client)
            return True

    def close(self) -> list[T]:
        """Let no more entries be taken; return those that were waiting."""
        with self._changed:
            self._closed = True
            left = [entry for clients in self._waiting.values() for waiting in clients.values() for entry in waiting]
            self._waiting.clear()
            self._changed.notify_all()
        return left
