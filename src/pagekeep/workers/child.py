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
from typing import IO, Any, Final

from pagekeep.errors import PagekeepError, ParseError
from pagekeep.workers import wire
from pagekeep.workers.heap import Heap, address_space, limit_memory


def serve(task: str, megabytes: int) -> None:
    """Run batches from standard input and write the results to standard output until it is closed."""
    jobs, results = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # printed text must not get between the results
    start_bytes = address_space()
    limit_memory(megabytes, start_bytes)
    run = load(task)
    answer = answer_codec(run)
    heap = Heap()
    with suppress(BrokenPipeError), jobs, results:  # it is not an error when the parent was killed
        wire.write(results, True, READY)
        while (batch := read(jobs)) is not None:
            cpu_seconds, batch_megabytes, waiting = batch
            del batch
            if batch_megabytes != megabytes:
                megabytes = batch_megabytes
                limit_memory(megabytes, start_bytes)
            waiting.reverse()
            while waiting:
                result, error = _run_job(run, waiting.pop(), cpu_seconds)  # `pop` frees a page as soon as it is done
                _answer(results, answer, result, error)
                del result, error
                heap.tidy()


READY: Final = wire.codec_of(bool)
_FAILED: Final = wire.codec_of(wire.SentError)


def answer_codec(run: Callable[[Any], Any]) -> wire.Codec:
    """Return how the answers of a task's function are sent: its result, or an error."""
    encode_result, decode_result = wire.returned_by(run)
    encode_error, decode_error = _FAILED

    def encode(answer: Any, parts: wire.Parts) -> list[Any]:
        result, error = answer
        if error is None:
            return [True, encode_result(result, parts)]
        return [False, encode_error(wire.SentError.of(error), parts)]

    def decode(answer: Any, parts: wire.Parts) -> tuple[Any, PagekeepError | None]:
        is_done, content = answer
        if is_done is True:
            return decode_result(content, parts), None
        return None, decode_error(content, parts).restore()

    return wire.Codec(encode, decode)


def _answer(results: IO[bytes], codec: wire.Codec, result: Any, error: PagekeepError | None) -> None:
    """Send an answer; a result that is not of the declared type is a fault of ours, which affects this job only."""
    try:
        pieces = wire.dumps((result, error), codec)
    except MemoryError:
        pieces = wire.dumps((None, out_of_memory()), codec)
    except Exception as fault:
        traceback.print_exc()
        pieces = wire.dumps((None, _unexpected(fault)), codec)
    for piece in pieces:
        results.write(piece)
    results.flush()


def _unexpected(fault: Exception) -> ParseError:
    return ParseError(f"Processing the page failed unexpectedly ({type(fault).__name__}).", suggestions=())


def load(task: str) -> Callable[[Any], Any]:
    """Return the function that a task names as "module:function"."""
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
        return None, _unexpected(error)
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
    """Return the next batch of jobs, or `None` when the parent has closed. Only the parent's messages are pickled."""
    try:
        return pickle.load(stream)
    except (EOFError, pickle.UnpicklingError):  # the end, or a truncated message
        return None


def write(stream: IO[bytes], message: Any) -> None:
    """Send a batch of jobs to a worker. Pages in it go to the pipe without another copy."""
    pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def main() -> None:
    """Run the worker process; its task, memory limit and priority are passed as arguments."""
    if hasattr(os, "nice"):
        os.nice(int(sys.argv[3]))
    serve(sys.argv[1], int(sys.argv[2]))
