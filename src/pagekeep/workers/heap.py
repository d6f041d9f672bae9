"""The memory of a worker process: its limit, and returning what a large page took, so that many workers together stay small."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import Final

GROWTH_BYTES: Final = 64_000_000
"""Growth of the process after which it cleans up; collecting all objects takes about 5 ms."""


def limit_memory(megabytes: int, start_bytes: int) -> None:
    """Let the process add this much address space to `start_bytes`, what it had when it started (see `address_space`).

    A forked process starts with the whole address space of its parent, which may be any size: a limit for the sum would
    leave it nothing. Systems that refuse the limit (Windows has none; macOS counts memory that it shares between all
    processes) run without it: there, a job has its limits of time only.
    """
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = start_bytes + megabytes * 1_000_000
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def address_space() -> int:
    """Return the bytes of address space of this process; 0 if the system does not say."""
    return _statm(0)


class Heap:
    """The memory of this process. `tidy` is called after every job and is cheap unless the job was large."""

    def __init__(self) -> None:
        gc.collect()
        gc.freeze()  # imported modules stay; scanning them at each collection takes 3 % of the time of a page
        self._size = _resident()

    def tidy(self) -> None:
        """Free unused memory if the process has grown."""
        if _resident() - self._size < GROWTH_BYTES:
            return
        gc.collect()
        _trim()
        self._size = max(
            self._size, _resident() - GROWTH_BYTES // 2
        )  # the rest is in use, so do not try again every time


def _resident() -> int:
    """Return the bytes in memory; 0 if the system does not say."""
    return _statm(1)


def _statm(field: int) -> int:
    with suppress(OSError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[field]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _trim() -> None:
    """Return freed memory to the system, if the C library can; otherwise it stays with the process."""
    if sys.platform.startswith("linux"):
        import ctypes  # few processes need it

        if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
            trim(0)
