"""Sign-ins wait for each other: checking a password takes much memory and CPU on purpose. Addresses take turns."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from pagekeep.accounts import network_of
from pagekeep.errors import TooManyRequests

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
