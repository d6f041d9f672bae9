"""A timeout that is set and cleared often: one thread for all waits of a worker, as starting a thread for each would take
longer than many pages."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic


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
