"""How good the extraction is: corpora in, numbers out.

`run` measures a corpus and, given a folder, writes `summary.csv`, `history.csv` and `report.html` there; `gate` names
the floors a report breaks; `render_table` gives the rows a door prints.
"""

from __future__ import annotations

from pagekeep.lab.corpus import holds_markdown
from pagekeep.lab.gate import gate
from pagekeep.lab.measure import Extractor, extract_without_rules, pipeline_extract, run
from pagekeep.lab.report.summary import PageScore, Report, Summary, render_table

__all__ = [
    "Extractor",
    "PageScore",
    "Report",
    "Summary",
    "extract_without_rules",
    "gate",
    "holds_markdown",
    "pipeline_extract",
    "render_table",
    "run",
]
