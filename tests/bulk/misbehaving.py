"""The worker's function, with pages that hang it or kill it."""

from __future__ import annotations

import os

from pagekeep.bulk.row import Job, Row
from pagekeep.bulk.row import make_row as honest


def make_row(job: Job) -> Row:
    """As the real one, except for two words."""
    html = getattr(job.record, "html", "")
    while "LOOP" in html:
        pass
    if "DIE" in html:
        os._exit(1)
    return honest(job)
