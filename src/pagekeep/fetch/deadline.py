"""The deadline of a fetch, which covers everything that a server can delay."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from pagekeep.errors import FetchTimeout


class Deadline:
    """A context manager that raises `FetchTimeout` after `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timeout = asyncio.timeout(seconds)

    @property
    def remaining(self) -> float:
        """Seconds left until the deadline."""
        end = self._timeout.when()
        return self._seconds if end is None else end - asyncio.get_running_loop().time()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock meanwhile, such as during a wait in our own queue."""
        loop = asyncio.get_running_loop()
        end, start = self._timeout.when(), loop.time()
        self._timeout.reschedule(None)
        try:
            yield
        finally:
            self._timeout.reschedule(None if end is None else end + loop.time() - start)

    async def __aenter__(self) -> Deadline:
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await self._timeout.__aexit__(kind, error, traceback)
        except TimeoutError:
            raise FetchTimeout(f"The server took longer than {self._seconds:g} seconds.") from None
