"""Extract whole corpora: millions of pages on all cores of a machine, or on a Ray cluster.

>>> from pagekeep import bulk
>>> rows = bulk.extract_many([("https://example.com/", "<title>Hello</title><p>Hello, world.")])
>>> [row["title"] for row in rows]
['Hello']
>>> bulk.extract_batch({"html": ["<title>Hello</title><p>Hello, world."]}, columns=("title", "words"))
{'title': ['Hello'], 'words': [2]}
>>> report = bulk.run("pages.jsonl", "out", columns=("url", "markdown"), workers=2)
>>> report.counts.rows
1
"""

from __future__ import annotations

from pagekeep.bulk.counts import Counts
from pagekeep.bulk.input_files import find_files
from pagekeep.bulk.plan import Plan
from pagekeep.bulk.progress import Progress
from pagekeep.bulk.report import Report
from pagekeep.bulk.row import COLUMNS, Column, Row
from pagekeep.bulk.run import extract_batch, extract_many, run

__all__ = [
    "COLUMNS",
    "Column",
    "Counts",
    "Plan",
    "Progress",
    "Report",
    "Row",
    "extract_batch",
    "extract_many",
    "find_files",
    "run",
]
