"""The worker's function, with pages that hang it or kill it."""

from __future__ import annotations

import os

from pagekeep.bulk.input_files import Line, Span
from pagekeep.bulk.row import Job, RowResult
from pagekeep.bulk.row import make_result as honest


def make(job: Job) -> RowResult:
    """As the real one, except for two words."""
    html = job.record.data.read() if isinstance(job.record, Line) and isinstance(job.record.data, Span) else b""
    while b"LOOP" in html:
        pass
    if b"DIE" in html:
        os._exit(1)
    return honest(job)
