"""Corpora in, corpora out: millions of pages on all cores of a machine, or on a cluster.

>>> from pagekeep import bulk
>>> rows = bulk.extract_many([("https://example.com/", "<title>Hello</title><p>Hello, world.")])
>>> [row["title"] for row in rows]
['Hello']
>>> bulk.extract_batch({"html": ["<title>Hello</title><p>Hello, world."]}, columns=("title", "words"))
{'title': ['Hello'], 'words': [2]}
>>> report = bulk.run("pages.jsonl", "out", columns=("url", "markdown"), workers=2)
>>> report.account.rows
1
"""

from __future__ import annotations

from pagekeep.bulk.batch import extract_batch
from pagekeep.bulk.input.files import find
from pagekeep.bulk.plan import Plan
from pagekeep.bulk.progress import Progress
from pagekeep.bulk.report import Report
from pagekeep.bulk.row import COLUMNS, Column, Row
from pagekeep.bulk.run import extract_many, run
from pagekeep.bulk.tally import Account

__all__ = [
    "COLUMNS",
    "Account",
    "Column",
    "Plan",
    "Progress",
    "Report",
    "Row",
    "extract_batch",
    "extract_many",
    "find",
    "run",
]
