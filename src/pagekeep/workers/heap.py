"""Return the memory of a large page to the system between two jobs, so that many workers together stay small."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import Final

GROWTH_BYTES: Final = 64_000_000
"""Growth of the process after which it cleans up; collecting all objects takes about 5 ms."""


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
    with suppress(OSError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _trim() -> None:
    """Return freed memory to the system, if the C library can; otherwise it stays with the process."""
    if sys.platform.startswith("linux"):
        import ctypes  # few processes need it

        if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
            trim(0)
