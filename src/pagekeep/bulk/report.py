"""What a run did: how much, how fast, and what failed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pagekeep.bulk import report_page
from pagekeep.bulk.output.parts import REPORT
from pagekeep.bulk.progress import Times
from pagekeep.bulk.tally import Account


@dataclass(frozen=True, slots=True)
class Report:
    """Of all parts, those of earlier runs that were taken up again included."""

    account: Account
    skipped: Mapping[str, int] = field(default_factory=Counter)
    """Records that are no page by their nature, by type."""
    seconds: float = 0.0
    """Of this run."""
    new_records: int = 0
    """In this run."""
    times: Times = field(default_factory=Times)
    """Of this run."""

    @property
    def rate(self) -> float:
        """Records a second in this run."""
        return self.new_records / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """As plain JSON types."""
        speed = {"seconds": round(self.seconds, 3), "new_records": self.new_records, "per_second": round(self.rate, 2)}
        return {**self.account.to_json(), "skipped": dict(self.skipped), **speed, **self.times.to_json()}

    def _repr_html_(self) -> str:
        """In a notebook, as the page it is."""
        return report_page.fragment(self)


def write(report: Report, folder: Path) -> None:
    """`report.json` for programs, `report.html` for people."""
    (folder / REPORT).write_text(json.dumps(report.to_json(), indent=1, ensure_ascii=False) + "\n", "utf-8")
    (folder / "report.html").write_text(report_page.page(report), "utf-8", "replace")
