"""Run imports in their own threads, at most a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Final, TypeVar

from pagekeep.errors import TooManyRequests

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
