"""The memory of a worker process: its limit, and returning what a large page took, so that many workers together stay small."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import ctypes

GROWTH_BYTES: Final = 64_000_000
"""Growth of the process after which it cleans up; collecting all objects takes about 5 ms."""
RETRY_SECONDS: Final = 5.0
"""Time after which a process that stayed large cleans up again: what was in use may be free by now."""
_LARGE_BYTES: Final = 1_000_000
_M_MMAP_THRESHOLD: Final = -3
"""The name of this parameter of `mallopt` in the C library of Linux."""


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
        self._size = self._start = _resident()
        self._tried = 0.0

    def tidy(self) -> None:
        """Free unused memory if the process has grown."""
        size = _resident()
        is_large = size - self._start >= GROWTH_BYTES and monotonic() - self._tried >= RETRY_SECONDS
        if size - self._size < GROWTH_BYTES and not is_large:
            return
        self._tried = monotonic()
        gc.collect()
        _trim()
        self._size = max(
            self._size, _resident() - GROWTH_BYTES // 2
        )  # the rest is in use, so do not try again every time


def return_large_blocks() -> None:
    """Let the C library return blocks of a megabyte to the system as soon as they are freed.

    Otherwise it raises that size with each large block that is freed, up to 32 MB, and then keeps them between smaller ones:
    after 24 requests of 10 MB a server had 265 MB more than before.
    """
    if (library := _c_library()) and (mallopt := getattr(library, "mallopt", None)):
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)


def _resident() -> int:
    """Return the bytes in memory; 0 if the system does not say."""
    return _statm(1)


def _statm(field: int) -> int:
    with suppress(OSError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[field]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _trim() -> None:
    """Return freed memory to the system, if the C library can; otherwise it stays with the process."""
    if (library := _c_library()) and (trim := getattr(library, "malloc_trim", None)):
        trim(0)


def _c_library() -> ctypes.CDLL | None:
    """Return the C library on Linux."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes  # few processes need it

    return ctypes.CDLL(None)
