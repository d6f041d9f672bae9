"""Worker processes that live as long as the test session: starting them takes longer than most tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pagekeep.library.saving import reparse
from pagekeep.workers import Limits, Pool


class LentPool(Pool):
    """A pool that stays open when a run ends."""

    def close(self) -> None:
        """Leave the pool to the next run."""


@pytest.fixture(scope="session", autouse=True)
def _shared_pools() -> Iterator[None]:
    pools: dict[tuple[str, int], LentPool] = {}

    def lend(task: str, count: int, limits: Limits) -> LentPool:
        if (task, count) not in pools:
            pools[task, count] = LentPool(task, count, limits)
        return pools[task, count]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reparse, "Pool", lend)
        yield
    for pool in pools.values():
        Pool.close(pool)
