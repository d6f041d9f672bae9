"""Find phrases of many languages in a text without trying them all."""

from __future__ import annotations

from typing import Final

from pagekeep.text import compile_lazily

_QUOTED_CHARS: Final = 80
"""Characters of a phrase that a reason quotes."""


class Wording:
    """Phrases as pairs of a stem and a pattern.

    Every match of the pattern contains the stem, and the pattern is tried only if the text contains it: searching for a
    stem takes a hundredth of the time of a pattern.
    """

    def __init__(self, *phrases: tuple[str, str]) -> None:
        self.phrases = tuple((stem, compile_lazily(pattern)) for stem, pattern in phrases)

    def find(self, text: str) -> str | None:
        """Return the first phrase of the list that the lower-case text contains, as written there."""
        for stem, pattern in self.phrases:
            if stem in text and (match := pattern.search(text)):
                return match[0].strip()[:_QUOTED_CHARS]
        return None


class Names:
    """Patterns for the start of titles and headings that name a wall or an error."""

    def __init__(self, *patterns: str) -> None:
        self._pattern = compile_lazily("|".join(patterns))

    def find(self, names: tuple[str, ...]) -> str | None:
        """Return the matching start of the first name that matches."""
        matches = (self._pattern.match(name) for name in names)
        return next((match[0].strip()[:_QUOTED_CHARS] for match in matches if match), None)
