"""Counts of what happened to the records of a run. The same pages give the same counts, byte for byte."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from pagekeep.bulk.row import RowResult

MAX_EXAMPLES: Final = 5
"""How many failed records of each type of error are listed."""


@dataclass(slots=True)
class Counts:
    """Counts of one part, or of a whole run."""

    records: int = 0
    rows: int = 0
    words: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    """By type."""
    left_out: Counter[str] = field(default_factory=Counter)
    """By filter."""
    types: Counter[str] = field(default_factory=Counter)
    """Types of files: HTML, PDF and so on."""
    kinds: Counter[str] = field(default_factory=Counter)
    levels: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    examples: dict[str, dict[str, str]] = field(default_factory=dict)
    """The first failures of each type of error: messages by place."""

    def add_row(self, result: RowResult) -> None:
        """Count a row that is written."""
        self.records += 1
        self.rows += 1
        if result.error_type:
            self.errors[result.error_type] += 1
            self._add_examples(result.error_type, {result.place: result.error or ""})
            return
        self.words += result.words
        self.types[result.file_type or "HTML"] += 1
        self.kinds[result.kind] += 1
        self.levels[result.level] += 1
        self.languages[result.language or "unknown"] += 1

    def add_left_out(self, reason: str) -> None:
        """Count a record that a filter leaves out."""
        self.records += 1
        self.left_out[reason] += 1

    def add(self, other: Counts) -> None:
        """Add other counts to these."""
        for name in ("records", "rows", "words"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _COUNTERS:
            getattr(self, name).update(getattr(other, name))
        for error_type, messages in other.examples.items():
            self._add_examples(error_type, messages)

    def _add_examples(self, error_type: str, messages: dict[str, str]) -> None:
        examples = self.examples.setdefault(error_type, {})
        for place, message in messages.items():
            if len(examples) < MAX_EXAMPLES:
                examples[place] = message

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain JSON types, the most frequent first."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: _sort_by_count(value) if isinstance(value, Counter) else value for name, value in values.items()}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Counts:
        """Return the counts from `to_json`."""
        counts = cls()
        for name, item in value.items():
            setattr(counts, name, Counter(item) if name in _COUNTERS else item)
        return counts


_COUNTERS: Final = ("errors", "left_out", "types", "kinds", "levels", "languages")


def _sort_by_count(counts: Counter[str]) -> dict[str, int]:
    """Sort by count, then by name, so that the bytes do not depend on which page came first."""
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
