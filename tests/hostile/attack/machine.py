"""Memory and processor time of a server and its worker processes, and how busy the machine is with other things."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_TICK: Final = os.sysconf("SC_CLK_TCK")
_SAMPLE_SECONDS: Final = 0.3
_CALM_SAMPLES: Final = 4


@dataclass(frozen=True)
class Memory:
    """Megabytes."""

    main: float
    """Of the server's own process."""
    tree: float
    """With its worker processes."""


@dataclass(frozen=True)
class Times:
    """Seconds since some moment: of processor time, and of waiting for a processor."""

    clock: float
    server: float
    """Of the server's own process."""
    tree: float
    """With its worker processes, also those that have ended."""
    wait: float
    """For which the thread of the server's event loop was ready to run and did not."""
    machine: float
    """Of everything on this machine."""

    def since(self, before: Times) -> Times:
        """Return the difference."""
        return Times(
            self.clock - before.clock,
            self.server - before.server,
            self.tree - before.tree,
            self.wait - before.wait,
            self.machine - before.machine,
        )

    def each_second(self) -> Times:
        """Return the times as shares of the time that went by."""
        seconds = max(self.clock, 0.001)
        return Times(1, self.server / seconds, self.tree / seconds, self.wait / seconds, self.machine / seconds)


def family(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parent = int(entry.joinpath("stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def memory(pid: int) -> Memory:
    """Return the memory in use now."""
    sizes = [_resident(one) for one in family(pid)]
    return Memory(sizes[0], sum(sizes))


def _resident(pid: int) -> float:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return 0.0


def times(pid: int) -> Times:
    """Return the times up to now."""
    own, tree = 0.0, 0.0
    for one in family(pid):
        with suppress(OSError):
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            user, system, ended_user, ended_system = (int(field) / _TICK for field in fields[11:15])
            own = user + system if one == pid else own
            tree += user + system + ended_user + ended_system
    wait = int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    busy = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    idle = int(busy[3]) + int(busy[4])
    return Times(time.monotonic(), own, tree, wait, (sum(map(int, busy[:8])) - idle) / _TICK)


def wait_for_rest(pid: int, seconds: float) -> bool:
    """Wait until no worker process has used the processor for a while; return whether that happened in time."""
    until, calm = time.monotonic() + seconds, 0
    while calm < _CALM_SAMPLES and time.monotonic() < until:
        began = times(pid)
        time.sleep(_SAMPLE_SECONDS)
        spent = times(pid).since(began)
        calm = calm + 1 if spent.tree - spent.server < 0.01 and not _any_runs(family(pid)[1:]) else 0
    return calm >= _CALM_SAMPLES


def wait_until_loaded(pid: int, seconds: float = 30.0) -> None:
    """Wait until a server that was just started has loaded what it loads in the background."""
    until, calm = time.monotonic() + seconds, 0
    while calm < _CALM_SAMPLES and time.monotonic() < until:
        began = times(pid)
        time.sleep(_SAMPLE_SECONDS)
        calm = calm + 1 if times(pid).since(began).server < 0.05 else 0


def rested_memory(pid: int, limit: Memory, seconds: float) -> Memory:
    """Return the memory in use once it is below a limit, or else the least that was seen in this time.

    The server and its workers return memory between two jobs, and thus not at once after the last one.
    """
    until, least = time.monotonic() + seconds, memory(pid)
    while (least.main > limit.main or least.tree > limit.tree) and time.monotonic() < until:
        time.sleep(_SAMPLE_SECONDS)
        now = memory(pid)
        least = min(least, now, key=lambda one: max(one.main - limit.main, one.tree - limit.tree))
    return least


def _any_runs(pids: list[int]) -> bool:
    """Return whether a process runs or wants to: on a busy machine it may get no processor for a while."""
    for pid in pids:
        with suppress(OSError):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "RD":
                return True
    return False


class Peak:
    """The most memory seen while it was watched."""

    def __init__(self) -> None:
        self.memory = Memory(0, 0)

    @contextmanager
    def watch(self, pid: int) -> Iterator[Peak]:
        """Look again and again until the end of the block."""
        ending = threading.Event()

        def look() -> None:
            while not ending.wait(_SAMPLE_SECONDS):
                now = memory(pid)
                self.memory = Memory(max(self.memory.main, now.main), max(self.memory.tree, now.tree))

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield self
        finally:
            ending.set()
            thread.join()
