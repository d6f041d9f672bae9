"""The report of a run, as files and in notebooks."""

from __future__ import annotations

import json
from pathlib import Path

from pagekeep.bulk.output.parts import REPORT_FILE
from pagekeep.bulk.report_data import ReportData
from pagekeep.bulk.report_html import render_fragment, render_page


class Report(ReportData):
    """The result of a run, which a notebook shows as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        return render_fragment(self)


def write_report(report: ReportData, folder: Path) -> None:
    """Write `report.json` for programs and `report.html` for people."""
    (folder / REPORT_FILE).write_text(json.dumps(report.to_json(), indent=1, ensure_ascii=False) + "\n", "utf-8")
    (folder / "report.html").write_text(render_page(report), "utf-8", "replace")
