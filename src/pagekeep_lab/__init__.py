"""Measure how good the extraction is.

`run` measures a corpus and, given a folder, writes `summary.csv`, `history.csv` and `report.html` there;
`find_broken_floors` compares a report with a gate file; `format_table` returns the rows to print."""

from __future__ import annotations

from pagekeep_lab.corpus import has_markdown_cases
from pagekeep_lab.evaluate import Extractor, extract_without_rules, find_broken_floors, pipeline_extract, run
from pagekeep_lab.scores import EvaluationReport, PageScore, Summary, format_table

__all__ = [
    "EvaluationReport",
    "Extractor",
    "PageScore",
    "Summary",
    "extract_without_rules",
    "find_broken_floors",
    "format_table",
    "has_markdown_cases",
    "pipeline_extract",
    "run",
]
