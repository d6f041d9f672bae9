"""What became of records, counted. The same pages give the same account, byte for byte."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from pagekeep.bulk.row import Made

EXAMPLES: Final = 5
"""Places kept of each type of error."""


@dataclass(slots=True)
class Account:
    """What became of the records of one part, or of a whole run."""

    records: int = 0
    rows: int = 0
    words: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    """By type."""
    left_out: Counter[str] = field(default_factory=Counter)
    """By filter."""
    kinds: Counter[str] = field(default_factory=Counter)
    levels: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    examples: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of each type of error the first few: place and sentence."""

    def count(self, made: Made) -> None:
        """A row that is written."""
        self.records += 1
        self.rows += 1
        if made.error_type:
            self.errors[made.error_type] += 1
            self._remember(made.error_type, {made.place: made.error or ""})
            return
        self.words += made.words
        self.kinds[made.kind] += 1
        self.levels[made.level] += 1
        self.languages[made.language or "unknown"] += 1

    def leave_out(self, why: str) -> None:
        """A record that a filter does not let through."""
        self.records += 1
        self.left_out[why] += 1

    def add(self, other: Account) -> None:
        """Sum up."""
        for name in ("records", "rows", "words"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _COUNTS:
            getattr(self, name).update(getattr(other, name))
        for kind, places in other.examples.items():
            self._remember(kind, places)

    def _remember(self, kind: str, places: dict[str, str]) -> None:
        kept = self.examples.setdefault(kind, {})
        for place, said in places.items():
            if len(kept) < EXAMPLES:
                kept[place] = said

    def to_json(self) -> dict[str, Any]:
        """As plain JSON types, the most frequent first."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: _by_count(value) if isinstance(value, Counter) else value for name, value in values.items()}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Account:
        """Again."""
        account = cls()
        for name, item in value.items():
            setattr(account, name, Counter(item) if name in _COUNTS else item)
        return account


_COUNTS: Final = ("errors", "left_out", "kinds", "levels", "languages")


def _by_count(counts: Counter[str]) -> dict[str, int]:
    """Ties by name: the bytes must not depend on which page came first."""
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
