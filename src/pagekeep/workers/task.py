"""Tasks as they are sent to a worker process and their results as they come back, both of limited size."""

from __future__ import annotations

import io
import pickle
from typing import Any, Final, Protocol, TypeVar

from pagekeep.errors import PagekeepError, ParseError, TooLarge
from pagekeep.values import dataclass
from pagekeep.workers import wire
from pagekeep.workers.worker import Limits, Worker, unreadable

PAGE: Final = Limits(cpu_seconds=15.0, wall_seconds=45.0, megabytes=2_000, result_bytes=40_000_000)
"""For extracting or decoding a page. A result has the text of a page of 10 MB four times (Markdown, document, text, HTML);
HTML in which every character is escaped would be five times as large again, and the server would hold it several times."""
DOCUMENT: Final = Limits(cpu_seconds=20.0, wall_seconds=60.0, megabytes=1_000)
"""For reading a document such as a PDF: a page of one takes about 20 ms."""
_LARGE_BYTES: Final = 65_536
"""Bytes of a task from this length on are sent beside it."""
NICE: Final = 10
"""Requests that need no worker are answered first when the CPU is busy."""

Result_co = TypeVar("Result_co", covariant=True)


class Task(Protocol[Result_co]):
    """Work on content of others; picklable, as it is sent to another process."""

    def run(self) -> Result_co:
        """Do the work and return its result."""
        ...


@dataclass(frozen=True, slots=True)
class Sealed:
    """A task as it is sent: its size is known before it is read."""

    task: bytes
    result_bytes: int
    large: tuple[bytes, ...] = ()
    """Long bytes of the task, such as a page, to which it refers by number: the caller's own objects, not copies."""


def seal(task: Task[Any], limits: Limits) -> Sealed:
    """Return the task as it is sent; raise `TooLarge` for one over its limit."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(task)
    if file.tell() + sum(map(len, pickler.large)) > limits.input_bytes:
        raise TooLarge(f"The page has more than {limits.input_bytes // 1_000_000} MB.")
    return Sealed(file.getvalue(), limits.result_bytes, tuple(pickler.large))


class _Pickler(pickle.Pickler):
    """Leaves out long bytes: a page that waits for a worker would else be in memory twice."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.large: list[bytes] = []

    def persistent_id(self, obj: Any) -> int | None:
        """Return the number of an object that is left out."""
        if type(obj) is not bytes or len(obj) < _LARGE_BYTES:
            return None
        self.large.append(obj)
        return len(self.large) - 1


class _Unpickler(pickle.Unpickler):
    def __init__(self, sealed: Sealed) -> None:
        super().__init__(io.BytesIO(sealed.task))
        self._large = sealed.large

    def persistent_load(self, pid: int) -> bytes:
        """Return an object that was left out."""
        return self._large[pid]


def run_sealed(sealed: Sealed) -> list[bytes]:
    """Run a task, in the worker process; return its result in pieces."""
    task = _Unpickler(sealed).load()
    pieces = wire.to_pieces(task.run(), wire.returned_by(type(task).run))
    if sum(map(len, pieces)) > sealed.result_bytes:
        raise TooLarge(f"The result has more than {sealed.result_bytes // 1_000_000} MB.")
    return pieces


def open_result(task: type[Task[Any]], pieces: list[bytes] | None, error: PagekeepError | None) -> Any:
    """Return the result that a worker sent for a task of this class, or raise its error; the pieces are used up.

    Raises `wire.Malformed` for anything that is not of the type that the class declares.
    """
    if error is not None or pieces is None:
        raise error or ParseError("There is no result.", suggestions=())
    return wire.from_pieces(pieces, wire.returned_by(task.run))


def make_worker() -> Worker:
    """Return a worker for sealed tasks."""
    return Worker(f"{__name__}:{run_sealed.__name__}", PAGE, nice=NICE)


def run_alone(task: Task[Result_co], limits: Limits = PAGE) -> Result_co:
    """Run one task in a separate process, forked if that is safe, and return its result as a room does.

    For commands that have a single task: they start faster than with a room.
    """
    sealed = seal(task, limits)
    wire.returned_by(type(task).run)  # the process that is forked has it then too
    worker = make_worker()
    try:
        worker.fork()
        ((data, error),) = worker.run([sealed], limits)
    finally:
        worker.close()
    try:
        result: Result_co = open_result(type(task), data, error)
    except wire.Malformed as fault:
        raise unreadable(fault) from None
    return result
