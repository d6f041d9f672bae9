"""A queue that is fair between users: each gets a turn, however many entries and sign-ins another has."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from threading import Condition
from typing import Generic, NamedTuple, TypeVar

from pagekeep.errors import TooManyRequests

T = TypeVar("T")


class Client(NamedTuple):
    """Who has an entry: the user, and in what capacity, such as a program with a token or the queue of jobs."""

    user: str = ""
    kind: str = ""


class FairQueue(Generic[T]):
    """Entries by client, with limits. Users take turns, and within a user the kinds do. For any number of threads.

    Of the entries that were taken and are not done, a user has at most `max_of_user` and a client at most `max_of_client`:
    more kinds do not give a user a larger share. A client has at most `max_waiting` that were not taken.
    """

    def __init__(self, *, max_of_user: int, max_of_client: int, max_waiting: int) -> None:
        self._max_of_user = max_of_user
        self._max_of_client = max_of_client
        self._max_waiting = max_waiting
        self._waiting: OrderedDict[str, OrderedDict[Client, deque[T]]] = OrderedDict()
        """The user whose turn is next comes first, and the client of a user whose turn is next."""
        self._running: Counter[str | Client] = Counter()
        """By user and by client."""
        self._closed = False
        self._changed = Condition()

    def put(self, client: Client, entry: T) -> None:
        """Add an entry; raise `TooManyRequests` when too many of the client wait already."""
        with self._changed:
            waiting = self._waiting.setdefault(client.user, OrderedDict()).setdefault(client, deque())
            if len(waiting) >= self._max_waiting:
                raise TooManyRequests(
                    f"{len(waiting)} of your pages are waiting to be processed, which is the limit.",
                    suggestions=("Try again when some are done.",),
                )
            waiting.append(entry)
            self._changed.notify()

    def take(self) -> tuple[Client, T] | None:
        """Wait for the next entry and return it with its client; `None` when the queue is closed."""
        with self._changed:
            while not self._closed:
                client = self._next()
                if client is not None:
                    return client, self._pop(client)
                self._changed.wait()
        return None

    def _next(self) -> Client | None:
        """Return the client whose turn it is among those whose share is not used up."""
        for user, clients in self._waiting.items():
            if self._running[user] < self._max_of_user:
                for client in clients:
                    if self._running[client] < self._max_of_client:
                        return client
        return None

    def _pop(self, client: Client) -> T:
        clients = self._waiting[client.user]
        entry = clients[client].popleft()
        clients.move_to_end(client)
        self._waiting.move_to_end(client.user)
        self._forget_empty(client)
        self._running.update((client.user, client))
        return entry

    def _forget_empty(self, client: Client) -> None:
        clients = self._waiting[client.user]
        if not clients[client]:
            del clients[client]
        if not clients:
            del self._waiting[client.user]

    def done(self, client: Client) -> None:
        """Note that an entry that was taken is done."""
        with self._changed:
            self._running.subtract((client.user, client))
            self._running += Counter()  # without those that have none
            self._changed.notify()

    def remove(self, client: Client, entry: T) -> bool:
        """Remove an entry that was not taken yet; return whether it was there."""
        with self._changed:
            waiting = self._waiting.get(client.user, OrderedDict()).get(client, deque())
            if entry not in waiting:
                return False
            waiting.remove(entry)
            self._forget_empty(client)
            return True

    def close(self) -> list[T]:
        """Let no more entries be taken; return those that were waiting."""
        with self._changed:
            self._closed = True
            left = [entry for clients in self._waiting.values() for waiting in clients.values() for entry in waiting]
            self._waiting.clear()
            self._changed.notify_all()
        return left
