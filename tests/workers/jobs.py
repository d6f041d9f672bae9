"""What the children are asked to do in these tests."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pagekeep.errors import FetchHttpError, ParseError


def work(job: tuple[str, object]) -> object:
    """Do as requested: most of it is misbehaviour."""
    what, value = job
    if what == "echo":
        return value
    if what == "print":
        print("noise on standard output", flush=True)
        return value
    if what == "pid":
        return os.getpid()
    if what == "refuse":
        raise ParseError("Nothing to read.", suggestions=("Look elsewhere.",))
    if what == "status":
        raise FetchHttpError("The server said no.", status=404)
    if what == "loop":
        while True:
            pass
    if what == "sleep":
        time.sleep(90)
    if what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "vanish":
        os._exit(3)
    if what == "take":
        assert isinstance(value, int)
        return len(bytearray(value))
    if what == "write":
        assert isinstance(value, bytes)
        for pipe in range(3, 32):  # wherever the pipe for results is
            with suppress(OSError):
                os.write(pipe, value)
        time.sleep(90)
    if what == "eat":
        return len(bytearray(3_000_000_000))
    raise AssertionError(what)


@dataclass(frozen=True)
class Do:
    """A task as `jobs.work` does them."""

    what: str
    value: object = None

    def run(self) -> object:
        return work((self.what, self.value))


@dataclass(frozen=True)
class Wait:
    """Writes its process id to a file, then waits until another file exists."""

    started: Path
    go_on: Path

    def run(self) -> int:
        self.started.with_suffix(".part").write_text(str(os.getpid()))
        self.started.with_suffix(".part").rename(self.started)
        while not self.go_on.exists():
            pass
        return os.getpid()


@dataclass
class Call:
    """Do something by name, in the worker process."""

    action: str

    def run(self) -> object:
        if self.action == "pid":
            return os.getpid(), os.nice(0), threading.active_count()
        if self.action == "loop":
            while True:
                pass
        if self.action == "fill":
            return len(bytearray(3_000_000_000))
        if self.action == "die":
            os._exit(3)
        raise ParseError("It cannot be read.", suggestions=("Try another.",))


@dataclass(frozen=True)
class Lie:
    """A task whose result is not what it declares."""

    def run(self) -> int:
        return "a text"  # type: ignore[return-value]


@dataclass(frozen=True)
class Object:
    """A task whose result is not plain data."""

    def run(self) -> object:
        return Path()
