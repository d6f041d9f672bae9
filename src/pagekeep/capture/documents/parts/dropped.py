"""What a reader leaves out of a document, for `--explain`, and the limit of its length."""

from __future__ import annotations

from typing import Final

from pagekeep.model import PageWarning, Removal

MAX_CHARS: Final = 5_000_000
"""Of text per document: more than the longest novels; two million take a second of CPU time."""


class Dropped:
    """Counts what is left out, by reason, and how much text is taken."""

    def __init__(self, step: str, max_chars: int = MAX_CHARS) -> None:
        self._step = step
        self._counts: dict[tuple[str, str], list[int]] = {}
        self._left = max_chars
        self._limit = max_chars
        self.is_cut = False

    def add(self, element: str, reason: str, text: str = "") -> None:
        """Count an element that is left out, with its text."""
        found = self._counts.setdefault((element, reason), [0, 0])
        found[0] += 1
        found[1] += len(text.split())

    def take(self, text: str) -> bool:
        """Count text that is kept; return whether there is room for it."""
        self._left -= len(text)
        if self._left < 0:
            self.is_cut = True
        return not self.is_cut

    def removals(self) -> list[Removal]:
        """Return a removal for each reason."""
        return [
            Removal(element, f"{reason} ({count} times)" if count > 1 else reason, words, self._step)
            for (element, reason), (count, words) in self._counts.items()
        ]

    def warnings(self) -> list[PageWarning]:
        """Return a warning if text was left out for its length."""
        text = f"only the first {self._limit:,} characters were read"
        return [PageWarning("truncated", text)] if self.is_cut else []
