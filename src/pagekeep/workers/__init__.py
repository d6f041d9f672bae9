"""Run jobs in worker processes with limits: a page that hangs, crashes or uses too much memory affects only itself."""

from __future__ import annotations

from pagekeep.workers.pool import JobResult, Pool
from pagekeep.workers.room import NICE, PAGE, TEXT, Room, Task, current_client
from pagekeep.workers.worker import Limits, Worker

__all__ = ["NICE", "PAGE", "TEXT", "JobResult", "Limits", "Pool", "Room", "Task", "Worker", "current_client"]
