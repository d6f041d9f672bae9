"""A worker: one child process, started when first needed, ended when it takes too long, and restarted after it died.

It starts in milliseconds where it is forked, with everything that this process has loaded. Only for commands, and before
they start threads: a fork copies the locks that other threads hold, and nothing frees them.
One thread serves the timeouts of all waits of a worker, as starting a thread for each would take longer than many pages."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Final

from pagekeep.errors import PagekeepError, ParseError
from pagekeep.values import dataclass
from pagekeep.workers import child, wire

if TYPE_CHECKING:
    import subprocess


class Forked:
    """A forked worker process, with the attributes of `subprocess.Popen` that a worker uses."""

    def __init__(self, task: str, megabytes: int, nice: int) -> None:
        jobs, self_jobs = os.pipe()
        self_results, results = os.pipe()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # otherwise the child has the text to write too
                stream.flush()
        gc.freeze()  # the child need not look through what it inherits, which would copy its memory
        self.pid = os.fork()
        if not self.pid:
            _run(task, megabytes, nice, jobs, results)
        gc.unfreeze()
        os.close(jobs)
        os.close(results)
        self.stdin: IO[bytes] | None = os.fdopen(self_jobs, "wb", BUFFER_BYTES)
        self.stdout: IO[bytes] | None = os.fdopen(self_results, "rb", BUFFER_BYTES)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code if the process has ended."""
        return self._wait(os.WNOHANG)

    def wait(self) -> int:
        """Wait for the end of the process and return its exit code."""
        return self._wait(0) or 0

    def kill(self) -> None:
        """Kill the process."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def _wait(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


if TYPE_CHECKING:
    _Process = subprocess.Popen[bytes] | Forked

_MAIN: Final = (
    # Ctrl-C goes to all processes on the terminal. The parent ends this one, so it ignores the signal.
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); from pagekeep.workers.child import main; main()"
)
PIPE_BYTES: Final = 1_048_576
"""Size of the pipe in each direction."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one job."""

    cpu_seconds: float = 10.0
    wall_seconds: float = 60.0
    """For jobs that wait, and for systems without a CPU limit."""
    megabytes: int = 2_000
    """Address space that the process may add to what it starts with; a forked one starts with that of its parent."""
    input_bytes: int = 100_000_000
    """Size of a job when it is sent. Only a room checks it; the input of other workers is limited where it is read."""
    result_bytes: int = 100_000_000
    """Size of a result when it is sent. Only a room checks it."""


_MORE_BYTES: Final = 10_000_000
"""By which an answer may be larger than the limit of the result in it: its size is checked in the process that sends it."""


def unreadable(fault: wire.Malformed) -> ParseError:
    """Return the error for a result that is not what the task declares."""
    return ParseError(f"The worker process sent a result that cannot be read: {fault}.", suggestions=())


class Worker:
    """A child process that runs `task` ("module:function") on one job after another. For one thread at a time."""

    def __init__(self, task: str, limits: Limits = Limits(), *, nice: int = 0, subject: str = "page") -> None:
        self.task = task
        self.limits = limits
        self.nice = nice
        """How much less CPU time than other processes it gets when there is too little for all (0 to 19)."""
        self.subject = subject
        """What a job works on, for messages."""
        self._process: _Process | None = None
        self._alarm = Alarm(limits.wall_seconds, self._kill)
        self._late = False
        self._closed = False

    def run(self, jobs: Sequence[Any], limits: Limits | None = None) -> Iterator[tuple[Any, PagekeepError | None]]:
        """Yield a result or an error for each job, in order and as soon as it is done.

        A job that kills the process gets an error; the jobs after it run in a new process. `limits` replace the usual ones.
        """
        limits = limits or self.limits
        done = 0
        while done < len(jobs):
            process = self._running()
            try:
                for result, error in self._results(process, jobs[done:], limits):
                    yield result, error
                    done += 1
            except wire.Malformed as fault:
                self._end(process)
                yield None, unreadable(fault)
                done += 1
                continue
            if done < len(jobs):
                yield None, self._death_error(process, limits)
                done += 1

    def start(self) -> None:
        """Start the process, unless there is one, and wait until it is ready."""
        if not self._closed and self._process is None:
            self._running()

    def fork(self) -> None:
        """Start the process as a fork of this one, if that is safe. A process that replaces it later is not forked."""
        if self._process is None and can_fork():
            self._wait_until_ready(Forked(self.task, self.limits.megabytes, self.nice))

    def restart(self) -> None:
        """End the process, when no job is running, and start a new one."""
        if self._process is not None:
            self._end(self._process)
        self.start()

    def kill(self) -> None:
        """Kill the process, from any thread; the running job gets an error."""
        if (process := self._process) is not None:
            process.kill()

    def interrupt(self) -> None:
        """Kill the process for good, from any thread; the running job gets an error."""
        self._closed = True
        self.kill()

    def close(self) -> None:
        """End the process for good, when no job is running."""
        self.interrupt()
        self._alarm.end()
        if self._process is not None:
            self._end(self._process)

    def _running(self) -> _Process:
        if self._closed:
            raise RuntimeError("The worker was closed.")
        if self._process is not None and self._process.poll() is not None:
            self._end(self._process)
        return self._process or self._wait_until_ready(self._start())

    def _wait_until_ready(self, process: _Process) -> _Process:
        """Return the process when it is ready: its start does not count towards the first job's time."""
        self._late = False
        self._process = process
        for pipe in _pipes(process):
            _widen(pipe)
        if self._closed:  # closed while it was starting
            process.kill()
        with suppress(EOFError, wire.Malformed):  # what is wrong shows when it gets a job
            wire.read(_pipes(process)[1], child.READY, 1_000)
        return process

    def _start(self) -> subprocess.Popen[bytes]:
        import subprocess  # a command that forks starts faster without it

        # The child can import what this process can, wherever it was started from.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        arguments = [self.task, str(self.limits.megabytes), str(self.nice)]
        return subprocess.Popen(
            [sys.executable, "-c", _MAIN, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=BUFFER_BYTES,
            env=environment,
        )

    def _results(
        self, process: _Process, jobs: Sequence[Any], limits: Limits
    ) -> Iterator[tuple[Any, PagekeepError | None]]:
        """Yield results until all jobs are done or the process has died."""
        stdin, stdout = _pipes(process)
        try:
            child.write(stdin, (limits.cpu_seconds, limits.megabytes, list(jobs)))
        except BrokenPipeError:
            return
        for _ in jobs:
            self._alarm.set(limits.wall_seconds)
            try:
                result = wire.read(stdout, self._answers, limits.result_bytes + _MORE_BYTES)
            except EOFError:
                return
            finally:
                self._alarm.clear()
            yield result

    @cached_property
    def _answers(self) -> wire.Codec:
        return child.answer_codec(child.load(self.task))

    def _kill(self) -> None:
        if (process := self._process) is not None:
            self._late = True
            process.kill()

    def _death_error(self, process: _Process, limits: Limits) -> PagekeepError:
        """Return the error that says what the process died of."""
        self._end(process)
        code = process.returncode
        if hasattr(signal, "SIGPROF") and code == -signal.SIGPROF:
            return ParseError(
                f"Processing the {self.subject} took more than {limits.cpu_seconds:g} s of CPU time.", suggestions=()
            )
        if self._late:
            return ParseError(
                f"Processing the {self.subject} took more than {limits.wall_seconds:g} s.", suggestions=()
            )
        if code in (-signal.SIGABRT, -signal.SIGSEGV):  # a failed allocation in C
            return child.out_of_memory(self.subject)
        return child.was_killed()

    def _end(self, process: _Process) -> None:
        self._process = None
        process.kill()
        for pipe in _pipes(process):
            with suppress(OSError):
                pipe.close()
        process.wait()


def _pipes(process: _Process) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None  # both were requested at the start
    assert process.stdout is not None
    return process.stdin, process.stdout


def _widen(pipe: IO[bytes]) -> None:
    """Make room for a whole page in the pipe, so that the two sides need not wait for each other, if the system allows it."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


BUFFER_BYTES: Final = 262_144
"""Bytes read from the pipe at a time: most results need only one read."""


def can_fork() -> bool:
    """Return whether this process can be forked safely: on Linux, while it has a single thread."""
    return sys.platform == "linux" and threading.active_count() == 1


def _run(task: str, megabytes: int, nice: int, jobs: int, results: int) -> None:
    """Serve jobs in the new process, and end it without cleaning up what belongs to the old one."""
    code = 1
    try:
        signal.signal(
            signal.SIGINT, signal.SIG_IGN
        )  # Ctrl-C goes to all processes on the terminal; the parent ends this one
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(jobs, 0)
        os.dup2(results, 1)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # the library, and the pipes of other workers
        os.nice(nice)
        child.serve(task, megabytes)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


class Alarm:
    """Calls `ring`, in another thread, when a wait takes too long. For one wait at a time."""

    def __init__(self, seconds: float, ring: Callable[[], None]) -> None:
        self._seconds = seconds
        self._ring = ring
        self._deadline: float | None = None
        self._ended = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def set(self, seconds: float | None = None) -> None:
        """Start a wait, of the usual length unless given, or start it again."""
        with self._changed:
            idle = self._deadline is None
            self._deadline = monotonic() + (self._seconds if seconds is None else seconds)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="pagekeep-alarm", daemon=True)
                self._thread.start()
            elif idle:  # otherwise the thread checks again by itself at the deadline it knows
                self._changed.notify()

    def clear(self) -> None:
        """End the wait."""
        with self._changed:
            self._deadline = None

    def end(self) -> None:
        """Stop the thread."""
        with self._changed:
            self._ended, self._deadline = True, None
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        with self._changed:
            while not self._ended:
                if self._deadline is not None and self._deadline <= monotonic():
                    self._deadline = None
                    self._ring()
                self._changed.wait(None if self._deadline is None else self._deadline - monotonic())
