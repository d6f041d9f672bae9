"""Run jobs in worker processes with limits: a page that hangs, crashes or uses too much memory affects only itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagekeep.workers.task import DOCUMENT, NICE, PAGE, Task, run_alone
from pagekeep.workers.worker import Limits, Worker

if TYPE_CHECKING:
    from pagekeep.workers.pool import JobResult, Pool
    from pagekeep.workers.room import TEXT, Client, Room, current_client
else:

    def __getattr__(name: str) -> object:
        """Import pools and rooms when one is first used: a command with a single task starts without threads."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from pagekeep.workers import pool, room

        return getattr(room if hasattr(room, name) else pool, name)


__all__ = [
    "DOCUMENT",
    "NICE",
    "PAGE",
    "TEXT",
    "Client",
    "JobResult",
    "Limits",
    "Pool",
    "Room",
    "Task",
    "Worker",
    "current_client",
    "run_alone",
]
