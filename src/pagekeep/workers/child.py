"""The child's side: read a batch of jobs, answer each as soon as it is done, within limits the kernel keeps.

The kernel, because a parser that loops or allocates in C never comes back to Python to be told.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import IO, Any

from pagekeep.errors import PagekeepError, ParseError
from pagekeep.workers.heap import Heap


def serve(task: str, cpu_seconds: float, megabytes: int) -> None:
    """Answer batches from standard input on standard output until that is closed."""
    jobs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not break the answers
    _bound_memory(megabytes)
    run = _load(task)
    heap = Heap()
    with suppress(BrokenPipeError), jobs, answers:  # a parent that was killed is the end, and no fault
        write(answers, "ready")
        while (batch := read(jobs)) is not None:
            batch.reverse()
            while batch:
                write(answers, _answer(run, batch.pop(), cpu_seconds))  # a page is let go as soon as it is read
                heap.tidy()


def _load(task: str) -> Callable[[Any], Any]:
    module, _, name = task.partition(":")
    run: Callable[[Any], Any] = getattr(import_module(module), name)
    return run


def _answer(run: Callable[[Any], Any], job: Any, cpu_seconds: float) -> tuple[Any, PagekeepError | None]:
    _bound_cpu(cpu_seconds)
    try:
        return run(job), None
    except PagekeepError as error:
        return None, error
    except MemoryError:
        return None, out_of_memory()
    except RecursionError:
        return None, ParseError("The page is nested too deep to be read.")
    except Exception as error:  # a fault of ours costs this job alone; what it was goes to the log
        traceback.print_exc()
        return None, ParseError(f"Reading the page failed unexpectedly ({type(error).__name__}).", suggestions=())
    finally:
        _bound_cpu(0)


def out_of_memory() -> ParseError:
    """The page needed more than its share."""
    return ParseError(
        "The page needs more memory than it is given.", suggestions=("Save the part you need as a smaller page.",)
    )


def _bound_cpu(seconds: float) -> None:
    """The process dies of SIGPROF when the job has used this much; 0 lifts the bound."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _bound_memory(megabytes: int) -> None:
    try:
        import resource
    except ImportError:  # no such limits on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = megabytes * 1_000_000
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def read(stream: IO[bytes]) -> Any:
    """The next message, or `None` when the other side has gone."""
    try:
        return pickle.load(stream)
    except (EOFError, pickle.UnpicklingError):  # nothing more, or a message that was cut
        return None


def write(stream: IO[bytes], message: Any) -> None:
    """Send a message whole. Pages in it go to the pipe as they are, without another copy."""
    pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def main() -> None:
    """The child's whole life; the parent passes its limits as arguments."""
    serve(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
