"""Work in processes of its own that can be killed: a page that hangs, crashes or eats memory costs that page alone."""

from __future__ import annotations

from pagekeep.workers.pool import Answer, Pool
from pagekeep.workers.worker import Limits, Worker

__all__ = ["Answer", "Limits", "Pool", "Worker"]
