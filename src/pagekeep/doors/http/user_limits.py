"""What one user may take of the server: imports and sign-ins at a time, and requests of a token."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from threading import Lock
from typing import Final, TypeVar

from pagekeep.errors import TooManyRequests
from pagekeep.identity.accounts import network_of

MAX_IMPORTS: Final = 2
"""An import may take minutes; it must not block the threads that answer other requests."""
MAX_IMPORTS_OF_USER: Final = 1
"""So that one user cannot take the slots of all others."""
T = TypeVar("T")


class ImportSlots:
    """A limited number of concurrent imports, in all and of each user.

    Further ones are rejected, because waiting would hold a connection open.
    """

    def __init__(self, max_imports: int = MAX_IMPORTS, of_user: int = MAX_IMPORTS_OF_USER) -> None:
        self._max_imports, self._of_user = max_imports, of_user
        self._lock = Lock()
        self._users: list[str] = []
        """The user of each import that is running."""
        self._threads = ThreadPoolExecutor(max(1, max_imports), thread_name_prefix="pagekeep-import")

    def check(self, user: str) -> None:
        """Raise `TooManyRequests` if this user cannot import now. Called before the file is read, which costs more."""
        if self._users.count(user) >= self._of_user:
            raise TooManyRequests("Your other import is still running.", suggestions=("Try again when it has ended.",))
        if len(self._users) >= self._max_imports:
            raise TooManyRequests(
                "Other imports are running.",
                suggestions=("Try again in a minute.", "Or use the command: pagekeep import FILE"),
            )

    async def run(self, user: str, work: Callable[[], T]) -> T:
        """Run a user's import and return its result; raise `TooManyRequests` if there is no slot."""
        with self._lock:
            self.check(user)
            self._users.append(user)
        future = self._threads.submit(work)
        future.add_done_callback(lambda _: self._users.remove(user))  # not when the request ends: the thread may go on
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Accept no more imports."""
        self._threads.shutdown(wait=False, cancel_futures=True)


MAX_RUNNING: Final = 4
"""Sign-ins at the same time; two of them check a password, see `accounts.py`."""
MAX_WAITING: Final = 200
"""Sign-ins that wait for a slot."""
MAX_ADDRESS_WAITING: Final = 50
"""The same from one address: as many people may sign in at once behind one router."""


class SignInSlots:
    """Slots for sign-ins. For one event loop."""

    def __init__(self) -> None:
        self._running = 0
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """By address, in the order in which they get their turns."""

    @asynccontextmanager
    async def take(self, address: str) -> AsyncIterator[None]:
        """Wait for a slot; `TooManyRequests` if too many wait already."""
        if self._running >= MAX_RUNNING:
            await self._wait(network_of(address))
        else:
            self._running += 1
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, address: str) -> None:
        queue = self._waiting.setdefault(address, deque())
        total = sum(map(len, self._waiting.values()))
        if len(queue) >= MAX_ADDRESS_WAITING or total >= MAX_WAITING:
            self._forget_if_empty(address)
            raise TooManyRequests("Too many users are signing in right now.", suggestions=("Try again in a moment.",))
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it had just got the slot
                self._pass_on()
            elif turn in queue:
                queue.remove(turn)
                self._forget_if_empty(address)
            raise

    def _pass_on(self) -> None:
        """Give the slot to the next address, if any waits."""
        while self._waiting:
            address = next(iter(self._waiting))
            queue = self._waiting.pop(address)
            turn = queue.popleft()
            if queue:
                self._waiting[address] = queue  # behind the others
            if not turn.done():
                turn.set_result(None)
                return
        self._running -= 1

    def _forget_if_empty(self, address: str) -> None:
        if not self._waiting.get(address, True):
            del self._waiting[address]


MAX_TOKENS: Final = 10_000
"""Tokens that are counted; the one used longest ago is forgotten first."""


class TokenRates:
    """The requests that each token has left. A pause gives them back, so that a whole library can be read at once."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}
        """Requests left, and when they were counted; the token used last is at the end."""
        self._lock = Lock()

    def take(self, token_id: str) -> None:
        """Count a request; `TooManyRequests`, with the seconds to wait, when there are too many."""
        if not self._per_minute:
            return
        with self._lock:
            now, most = self._clock(), float(self._per_minute)
            left, counted = self._left.pop(token_id, (most, now))
            left = min(most, left + (now - counted) * most / 60)
            self._left[token_id] = max(0.0, left - 1) if left >= 1 else left, now
            if len(self._left) > MAX_TOKENS:
                del self._left[next(iter(self._left))]
        if left < 1:
            seconds = math.ceil((1 - left) * 60 / most)
            raise TooManyRequests(
                "Too many requests with this token.",
                suggestions=(f"Wait {seconds} s. The setting `token_requests` says how many are allowed in a minute.",),
                seconds=seconds,
            )
