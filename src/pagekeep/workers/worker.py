"""One child process, started when it is first needed and started anew after it died."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, Final

from pagekeep.errors import PagekeepError, ParseError
from pagekeep.workers import child
from pagekeep.workers.alarm import Alarm

_MAIN: Final = (
    # A Ctrl-C goes to everything on the terminal. This process is the parent's to end, so it goes on until then.
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); from pagekeep.workers.child import main; main()"
)
_PIPE: Final = 1_048_576
"""Bytes on their way at most, each way."""
_BUFFER: Final = 262_144
"""Bytes taken from the pipe at once: most answers are one."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one job may use."""

    cpu_seconds: float = 10.0
    wall_seconds: float = 60.0
    """For what waits instead of working, and where the kernel keeps no CPU limit."""
    megabytes: int = 2_000
    """Address space of the whole child."""


class Worker:
    """A child that runs `task` ("module:function") on one job after another. For one thread at a time."""

    def __init__(self, task: str, limits: Limits = Limits()) -> None:
        self.task = task
        self.limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._alarm = Alarm(limits.wall_seconds, self._kill)
        self._late = False
        self._closed = False

    def ask(self, jobs: Sequence[Any]) -> Iterator[tuple[Any, PagekeepError | None]]:
        """An answer for each job, in order and as soon as it is there: a result, or the error it met with.

        A job that kills the child gets an error that says so; those behind it go on in a new child.
        """
        done = 0
        while done < len(jobs):
            process = self._running()
            for result, error in self._answers(process, jobs[done:]):
                yield result, error
                done += 1
            if done < len(jobs):
                yield None, self._verdict(process)
                done += 1

    def interrupt(self) -> None:
        """Kill the child for good, from any thread: whoever waits for an answer gets an error."""
        self._closed = True
        if (process := self._process) is not None:
            process.kill()

    def close(self) -> None:
        """End the child for good, once nobody asks any more."""
        self.interrupt()
        self._alarm.end()
        if self._process is not None:
            self._end(self._process)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._closed:
            raise RuntimeError("The worker was closed.")
        if self._process is not None and self._process.poll() is not None:
            self._end(self._process)
        if self._process is None:
            process = self._start()
            child.read(_pipes(process)[1])  # it is ready: how long it took to start is not the first job's fault
            return process
        return self._process

    def _start(self) -> subprocess.Popen[bytes]:
        self._late = False
        # The child finds what this process finds, wherever it was started from.
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        arguments = [self.task, str(self.limits.cpu_seconds), str(self.limits.megabytes)]
        self._process = process = subprocess.Popen(
            [sys.executable, "-c", _MAIN, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=_BUFFER,
            env=environment,
        )
        for pipe in _pipes(process):
            _widen(pipe)
        if self._closed:  # while it was being started
            process.kill()
        return process

    def _answers(
        self, process: subprocess.Popen[bytes], jobs: Sequence[Any]
    ) -> Iterator[tuple[Any, PagekeepError | None]]:
        """Answers until all are there or the child is gone."""
        stdin, stdout = _pipes(process)
        try:
            child.write(stdin, list(jobs))
        except BrokenPipeError:
            return
        for _ in jobs:
            self._alarm.set()
            try:
                answer = child.read(stdout)
            finally:
                self._alarm.clear()
            if answer is None:
                return
            yield answer

    def _kill(self) -> None:
        if (process := self._process) is not None:
            self._late = True
            process.kill()

    def _verdict(self, process: subprocess.Popen[bytes]) -> PagekeepError:
        """What the child died of."""
        self._end(process)
        code = process.returncode
        if hasattr(signal, "SIGPROF") and code == -signal.SIGPROF:
            return ParseError(f"The page took more than {self.limits.cpu_seconds:g} s to read.")
        if self._late:
            return ParseError(f"The page was not done after {self.limits.wall_seconds:g} s.")
        if code in (-signal.SIGABRT, -signal.SIGSEGV):  # how an allocation that fails in C ends
            return child.out_of_memory()
        return ParseError("The process that read the page was killed.")

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        self._process = None
        process.kill()
        for pipe in _pipes(process):
            with suppress(OSError):
                pipe.close()
        process.wait()


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None  # both were asked for when it was started
    assert process.stdout is not None
    return process.stdin, process.stdout


def _widen(pipe: IO[bytes]) -> None:
    """Room for a whole page, so that the two sides need not take turns; a system that refuses keeps its small pipe."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)
