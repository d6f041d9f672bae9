"""What the fetch tests share: the site, settings that let it be fetched, and a clock that does not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import pytest

from pagekeep.config import Settings
from tests.site.pages import PAGES
from tests.site.server import Canary, Site

T = TypeVar("T")


@pytest.fixture(scope="session")
def running_site() -> Iterator[Site]:
    with Site(PAGES) as site:
        yield site


@pytest.fixture
def site(running_site: Site) -> Site:
    """The test site, with its records cleared."""
    running_site.requests.clear()
    return running_site


@pytest.fixture
def canary() -> Iterator[Canary]:
    with Canary() as canary:
        yield canary


@pytest.fixture
def settings() -> Settings:
    """Lets loopback be fetched, without pauses."""
    return Settings(allow_hosts=("127.0.0.1", "localhost"), per_host_delay=0, per_host_connections=8, timeout=5)


class QuickClock:
    """Notes how long it was to wait, and does not."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def date(self) -> float:
        return 1_750_000_000.0 + self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


@pytest.fixture
def clock() -> QuickClock:
    return QuickClock()


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(coroutine, 60))


@pytest.fixture
def run() -> Any:
    """Runs a coroutine to its end, within a minute."""
    return _run
