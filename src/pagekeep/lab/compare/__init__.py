"""Compare two extractors on the same pages: what one has and the other lacks.

`compare` runs both and compares the results, `write_report` takes results that were compared elsewhere; with a folder, both
write `summary.csv`, `history.csv` and `report.html` there.
"""

from __future__ import annotations

from pagekeep.lab.compare.pairs import Comparison, Pair, compare_markdown
from pagekeep.lab.compare.run import compare, comparison_to_json, format_comparison, write_report

__all__ = [
    "Comparison",
    "Pair",
    "compare",
    "compare_markdown",
    "comparison_to_json",
    "format_comparison",
    "write_report",
]
