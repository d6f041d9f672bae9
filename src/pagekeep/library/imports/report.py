"""The result of an import: counts, failures and remarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pagekeep.library.imports.input.row import Fault, Place
from pagekeep.model import PutResult

MAX_DETAILS: Final = 1_000
"""How many failures and remarks are listed; the rest are only counted. The file of failed rows has all failures."""


_COUNTS: Final = (
    *("rows", "added", "updated", "unchanged", "skipped", "failed", "carried", "annotations"),
    *("queued", "fetched", "not_fetched"),
)


@dataclass(slots=True)
class ImportReport:
    """Counts that grow while an import runs."""

    rows: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: int = 0
    failed: int = 0
    carried: int = 0
    """Pages whose content was in the export."""
    annotations: int = 0
    queued: int = 0
    fetched: int = 0
    not_fetched: int = 0
    formats: dict[str, int] = field(default_factory=dict)
    """Rows by format."""
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    """Place, reason and excerpt of the first `MAX_DETAILS` failures."""
    remarks: list[tuple[str, str]] = field(default_factory=list)
    """Place and text of the first `MAX_DETAILS` remarks on what was left out of imported rows."""

    read: int = 0
    """Entries of the file that were read, whatever became of them."""

    @classmethod
    def from_json(cls, shape: Mapping[str, Any]) -> ImportReport:
        """Return the report of an import that goes on, from its JSON form."""
        counts = {name: shape[name] for name in (*_COUNTS, "read") if name in shape}
        return cls(
            **counts,
            formats=dict(shape.get("formats", {})),
            failures=[(one["place"], one["reason"], one["excerpt"]) for one in shape.get("failures", ())],
            remarks=[(one["place"], one["remark"]) for one in shape.get("remarks", ())],
        )

    def count(self, outcome: PutResult) -> None:
        """Count an imported row by its outcome."""
        setattr(self, outcome, getattr(self, outcome) + 1)

    def fail(self, fault: Fault) -> None:
        """Count and list a row that cannot be imported."""
        self.failed += 1
        if len(self.failures) < MAX_DETAILS:
            self.failures.append((str(fault.place), fault.reason, fault.excerpt[:200]))

    def remark(self, place: Place | str, text: str) -> None:
        """List something that was left out."""
        if len(self.remarks) < MAX_DETAILS:
            self.remarks.append((str(place), text))

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON types."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        failures = [{"place": place, "reason": reason, "excerpt": text} for place, reason, text in self.failures]
        remarks = [{"place": place, "remark": text} for place, text in self.remarks]
        return {**counts, "formats": dict(self.formats), "failures": failures, "remarks": remarks}
