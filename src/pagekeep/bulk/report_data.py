"""The values of a run's report: how much was done, how fast, and what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pagekeep.bulk.counts import Counts
from pagekeep.bulk.progress import Timings


@dataclass(frozen=True, slots=True)
class ReportData:
    """The result of a run, with the parts that an interrupted run has written before."""

    counts: Counts
    skipped: Mapping[str, int] = field(default_factory=Counter)
    """Records that are never pages, such as requests and metadata, by type."""
    seconds: float = 0.0
    """Duration of this run."""
    new_records: int = 0
    """Records done in this run."""
    timings: Timings = field(default_factory=Timings)
    """Timings of this run."""

    @property
    def rate(self) -> float:
        """Records per second in this run."""
        return self.new_records / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON types."""
        speed = {"seconds": round(self.seconds, 3), "new_records": self.new_records, "per_second": round(self.rate, 2)}
        return {**self.counts.to_json(), "skipped": dict(self.skipped), **speed, **self.timings.to_json()}
