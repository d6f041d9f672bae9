"""The progress of the jobs that this process runs."""

from __future__ import annotations

import asyncio
from contextlib import suppress


class Board:
    """The stage of every running job, for one event loop."""

    def __init__(self) -> None:
        self._stages: dict[str, str] = {}
        self._watchers: dict[str, set[asyncio.Event]] = {}

    def put(self, job_id: str, stage: str) -> None:
        """Set the stage of a job."""
        self._stages[job_id] = stage
        self._wake(job_id)

    def drop(self, job_id: str) -> None:
        """Remove a job that has ended."""
        self._stages.pop(job_id, None)
        self._wake(job_id)

    def stage(self, job_id: str) -> str | None:
        """Return the stage of a job, if this process runs it."""
        return self._stages.get(job_id)

    async def change(self, job_id: str, seconds: float) -> None:
        """Wait until the stage of the job changes, at most this many seconds."""
        event = asyncio.Event()
        self._watchers.setdefault(job_id, set()).add(event)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), seconds)
        finally:
            watchers = self._watchers[job_id]
            watchers.discard(event)
            if not watchers:
                del self._watchers[job_id]

    def _wake(self, job_id: str) -> None:
        for event in self._watchers.get(job_id, ()):
            event.set()
