"""A clock on the wall for whoever waits: one thread for all the waits of a worker, since a thread for each costs more than
many a page."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic


class Alarm:
    """Calls `ring` when a wait has lasted too long. For one wait at a time; `ring` comes from another thread."""

    def __init__(self, seconds: float, ring: Callable[[], None]) -> None:
        self._seconds = seconds
        self._ring = ring
        self._until: float | None = None
        self._ended = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def set(self) -> None:
        """A wait begins, or begins anew."""
        with self._changed:
            idle = self._until is None
            self._until = monotonic() + self._seconds
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="pagekeep-alarm", daemon=True)
                self._thread.start()
            elif idle:  # one that is watching looks again by itself when the time it knows of has come
                self._changed.notify()

    def clear(self) -> None:
        """The wait is over."""
        with self._changed:
            self._until = None

    def end(self) -> None:
        """No more waits."""
        with self._changed:
            self._ended, self._until = True, None
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        with self._changed:
            while not self._ended:
                if self._until is not None and self._until <= monotonic():
                    self._until = None
                    self._ring()
                self._changed.wait(None if self._until is None else self._until - monotonic())
