"""A queue that is fair between clients: each gets its turn, however many entries another has waiting."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from threading import Condition
from typing import Generic, TypeVar

from pagekeep.errors import TooManyRequests

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Entries by client, taken in turn, with limits per client. For any number of threads.

    A client has at most `max_running` entries that were taken and are not done, and at most `max_waiting` that were not taken.
    """

    def __init__(self, *, max_running: int, max_waiting: int) -> None:
        self._max_running = max_running
        self._max_waiting = max_waiting
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()
        """The client whose turn is next comes first."""
        self._running: Counter[str] = Counter()
        self._closed = False
        self._changed = Condition()

    def put(self, client: str, entry: T) -> None:
        """Add an entry; raise `TooManyRequests` when too many of the client wait already."""
        with self._changed:
            waiting = self._waiting.get(client)
            if waiting is None:
                waiting = self._waiting[client] = deque()
            elif len(waiting) >= self._max_waiting:
                raise TooManyRequests(
                    f"{len(waiting)} of your pages are waiting to be processed, which is the limit.",
                    suggestions=("Try again when some are done.",),
                )
            waiting.append(entry)
            self._changed.notify()

    def take(self) -> tuple[str, T] | None:
        """Wait for the next entry and return it with its client; `None` when the queue is closed."""
        with self._changed:
            while not self._closed:
                for client, waiting in self._waiting.items():
                    if self._running[client] < self._max_running:
                        entry = waiting.popleft()
                        self._waiting.move_to_end(client)
                        if not waiting:
                            del self._waiting[client]
                        self._running[client] += 1
                        return client, entry
                self._changed.wait()
        return None

    def done(self, client: str) -> None:
        """Note that an entry that was taken is done."""
        with self._changed:
            self._running[client] -= 1
            if not self._running[client]:
                del self._running[client]
            self._changed.notify()

    def remove(self, client: str, entry: T) -> bool:
        """Remove an entry that was not taken yet; return whether it was there."""
        with self._changed:
            waiting = self._waiting.get(client, deque())
            if entry not in waiting:
                return False
            waiting.remove(entry)
            if not waiting:
                del self._waiting[client]
            return True

    def close(self) -> list[T]:
        """Let no more entries be taken; return those that were waiting."""
        with self._changed:
            self._closed = True
            left = [entry for waiting in self._waiting.values() for entry in waiting]
            self._waiting.clear()
            self._changed.notify_all()
        return left
