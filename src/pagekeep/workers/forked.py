"""A worker process made by a fork: it starts in milliseconds, with everything that this process has loaded.

Only for commands, and before they start threads: a fork copies the locks that other threads hold, and nothing frees them.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import traceback
from contextlib import suppress
from typing import IO, Final

from pagekeep.workers import child

BUFFER_BYTES: Final = 262_144
"""Bytes read from the pipe at a time: most results need only one read."""


def can_fork() -> bool:
    """Return whether this process can be forked safely: on Linux, while it has a single thread."""
    return sys.platform == "linux" and threading.active_count() == 1


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
