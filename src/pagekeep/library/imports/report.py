"""What became of an import."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from pagekeep.library.imports.input.row import Fault, Place
from pagekeep.model import Put

MOST_TOLD: Final = 1_000
"""Failures and remarks that are held; of the others, only their number. The file of failed rows has them all."""


@dataclass(slots=True)
class Report:
    """Counts that grow while an import runs."""

    rows: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: int = 0
    failed: int = 0
    carried: int = 0
    """Pages whose content came with the export."""
    annotations: int = 0
    queued: int = 0
    fetched: int = 0
    not_fetched: int = 0
    formats: dict[str, int] = field(default_factory=dict)
    """Rows by format."""
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    """Place, reason, what stands there: the first thousand."""
    remarks: list[tuple[str, str]] = field(default_factory=list)
    """What was not carried over of rows that were imported: the first thousand."""

    def count(self, outcome: Put) -> None:
        """One row more."""
        setattr(self, outcome, getattr(self, outcome) + 1)

    def fail(self, fault: Fault) -> None:
        """One that cannot be had."""
        self.failed += 1
        if len(self.failures) < MOST_TOLD:
            self.failures.append((str(fault.place), fault.reason, fault.excerpt[:200]))

    def remark(self, place: Place | str, said: str) -> None:
        """Something that was left behind."""
        if len(self.remarks) < MOST_TOLD:
            self.remarks.append((str(place), said))

    def to_json(self) -> dict[str, Any]:
        """As plain JSON types."""
        counts = {
            name: getattr(self, name)
            for name in (
                *("rows", "added", "updated", "unchanged", "skipped", "failed", "carried", "annotations"),
                *("queued", "fetched", "not_fetched"),
            )
        }
        failures = [{"place": place, "reason": reason, "excerpt": what} for place, reason, what in self.failures]
        remarks = [{"place": place, "remark": said} for place, said in self.remarks]
        return {**counts, "formats": dict(self.formats), "failures": failures, "remarks": remarks}
