"""Numbers by name."""

from __future__ import annotations


class Counts(dict[str, int]):
    """Numbers by name; a name that is missing counts 0."""

    def add(self, name: str, number: int = 1) -> None:
        """Add to the number of a name."""
        self[name] = self.get(name, 0) + number
