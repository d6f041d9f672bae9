"""Two extractors over the same pages: what one has and the other lacks.

`compare` runs both and measures, `report_readings` measures readings that are at hand; given a folder, both write
`summary.csv`, `history.csv` and `report.html` there.
"""

from __future__ import annotations

from pagekeep.lab.compare.pairs import Comparison, Pair, pair_of_markdown
from pagekeep.lab.compare.run import compare, numbers_of, report_readings, table_of

__all__ = ["Comparison", "Pair", "compare", "numbers_of", "pair_of_markdown", "report_readings", "table_of"]
