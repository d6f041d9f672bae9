"""One pool of worker processes for all servers of a test session.

Starting a server in this process takes about 20 ms, starting a worker for it about a second: so each test has its own server
and library, and all of them use the same workers. Tests of the workers themselves start their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pagekeep.workers import Limits, Pool

USERS = ("pagekeep.capture.extract_worker.Pool", "pagekeep.present.render_worker.Pool")
"""Where servers take their pools from."""


class LentPool:
    """A pool that stays open when the server that uses it ends."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def run(self, job: Any) -> Any:
        return self._pool.run(job)

    def close(self) -> None:
        """Leave the pool to the next server."""


@pytest.fixture(scope="session")
def shared_workers() -> Iterator[None]:
    """Let servers borrow pools that live as long as the test session."""
    pools: dict[tuple[str, Limits], Pool] = {}

    def lend(task: str, count: int, limits: Limits = Limits()) -> LentPool:
        if (task, limits) not in pools:
            pools[task, limits] = Pool(task, count, limits)
        return LentPool(pools[task, limits])

    with pytest.MonkeyPatch.context() as patch:
        for name in USERS:
            patch.setattr(name, lend)
        yield
    for pool in pools.values():
        pool.close()
