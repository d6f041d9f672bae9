"""A library with sinks, and a runner that delivers until nothing is due."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pagekeep import clock
from pagekeep.capture.from_url import Retrieval
from pagekeep.config import Settings
from pagekeep.library.open import open_library
from pagekeep.library.sinks.manage import NewSink, add_sink
from pagekeep.library.sinks.outbox import Pace
from pagekeep.library.sinks.runner import SinkRunner
from pagekeep.library.sinks.secret_box import seal
from pagekeep.model.sinks import Sink
from pagekeep.store import Store
from tests.store.making import make_item

FAST = Pace(lease_seconds=30.0, first_pause=0.001, request_seconds=0.5, max_wait=0.01)


class Bench:
    """A library, and what is done with it."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self.settings = settings
        self.store = store

    def save(self, number: int = 0, **values: Any) -> str:
        """Save a page, and return its id."""
        content = values.pop("content", f"---\ntitle: x\n---\n\nSome words of page {number}.\n")
        return self.store.items.save(
            make_item(number, content=content, quality="article", word_count=5, **values), None
        ).id

    def add(self, kind: str, address: str, secret: str, *rules: str, **settings: str) -> Sink:
        """Add a sink; also one of a service, whose address cannot be chosen."""
        if kind != "readwise":
            new = NewSink(kind, address=address, rules=rules or ("*",), settings=settings, secret=secret)
            return add_sink(self.store, self.settings, new).sink
        sink_id = str(uuid.uuid4())
        options = {"rules": list(rules or ("*",)), "settings": settings}
        sealed = seal(self.settings, self.store.user_id, sink_id, secret)
        user = self.store.user_id
        sink = Sink(sink_id, user, kind, kind, address, options, "active", clock.now(), sealed)
        return self.store.sinks.add(sink)

    def deliver(self, pace: Pace = FAST, rounds: int = 1) -> None:
        """Deliver until nothing is due, several times with pauses that make retries due."""
        asyncio.run(self._deliver(pace, rounds))

    async def _deliver(self, pace: Pace, rounds: int) -> None:
        with closing(open_library(self.settings, workers=True)) as queue:
            async with Retrieval(self.settings) as retrieval:
                for _ in range(rounds):
                    runner = SinkRunner(
                        f"test {uuid.uuid4()}",
                        queue,
                        lambda user: open_library(self.settings, user),
                        retrieval,
                        pace,
                        poll_seconds=0.01,
                    )
                    await runner.run(until_empty=True)
                    await asyncio.sleep(0.015)


@pytest.fixture
def make_bench(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """Makes a library; loopback is allowed unless the settings say otherwise."""
    stores: list[Store] = []

    def make(**values: Any) -> Bench:
        settings = Settings(**{"library": str(tmp_path / "library.db"), "allow_hosts": ("127.0.0.1",), **values})
        stores.append(open_library(settings))
        return Bench(settings, stores[-1])

    yield make
    for store in stores:
        store.close()


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    """A library."""
    return make_bench()
