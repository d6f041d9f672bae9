"""The worker process: read batches of jobs and return each result as soon as it is done, within limits set by the kernel.

The kernel enforces them, because a parser that loops or allocates in C never returns to Python.
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
from pagekeep.workers.heap import Heap, address_space, limit_memory


def serve(task: str, megabytes: int) -> None:
    """Run batches from standard input and write the results to standard output until it is closed."""
    jobs, results = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # printed text must not get between the results
    start_bytes = address_space()
    limit_memory(megabytes, start_bytes)
    run = _load(task)
    heap = Heap()
    with suppress(BrokenPipeError), jobs, results:  # it is not an error when the parent was killed
        write(results, "ready")
        while (batch := read(jobs)) is not None:
            cpu_seconds, batch_megabytes, waiting = batch
            del batch
            if batch_megabytes != megabytes:
                megabytes = batch_megabytes
                limit_memory(megabytes, start_bytes)
            waiting.reverse()
            while waiting:
                write(results, _run_job(run, waiting.pop(), cpu_seconds))  # `pop` frees a page as soon as it is done
                heap.tidy()


def _load(task: str) -> Callable[[Any], Any]:
    module, _, name = task.partition(":")
    run: Callable[[Any], Any] = getattr(import_module(module), name)
    return run


def _run_job(run: Callable[[Any], Any], job: Any, cpu_seconds: float) -> tuple[Any, PagekeepError | None]:
    _limit_cpu(cpu_seconds)
    try:
        return run(job), None
    except PagekeepError as error:
        return None, error
    except MemoryError:
        return None, out_of_memory()
    except RecursionError:
        return None, ParseError("The elements of the page are nested too deeply.", suggestions=())
    except Exception as error:  # a bug of ours affects this job only, and goes to the log
        traceback.print_exc()
        return None, ParseError(f"Processing the page failed unexpectedly ({type(error).__name__}).", suggestions=())
    finally:
        _limit_cpu(0)


def out_of_memory(subject: str = "page") -> ParseError:
    """Return the error for a page, or something else, that needs too much memory."""
    return ParseError(f"The {subject} needs too much memory.", suggestions=("Save only the part you need.",))


def was_killed() -> ParseError:
    """Return the error for work whose process was killed from outside."""
    return ParseError("The worker process was killed.", suggestions=("Try again.",))


def _limit_cpu(seconds: float) -> None:
    """Let SIGPROF kill the process when the job has used this much CPU time; 0 removes the limit."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def read(stream: IO[bytes]) -> Any:
    """Return the next message, or `None` when the other side has closed."""
    try:
        return pickle.load(stream)
    except (EOFError, pickle.UnpicklingError):  # the end, or a truncated message
        return None


def write(stream: IO[bytes], message: Any) -> None:
    """Send a message. Pages in it go to the pipe without another copy."""
    pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def main() -> None:
    """Run the worker process; its task, memory limit and priority are passed as arguments."""
    if hasattr(os, "nice"):
        os.nice(int(sys.argv[3]))
    serve(sys.argv[1], int(sys.argv[2]))
