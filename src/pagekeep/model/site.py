"""What is known about a site from its pages."""

from __future__ import annotations

from pagekeep.values import dataclass


@dataclass(frozen=True, slots=True)
class SiteKnowledge:
    """What the pages of one site have in common. Made by `pagekeep.extraction.site.learn`, used through `Options.site`."""

    pages: int = 0
    """How many different pages it was learned from."""
    repeated: frozenset[int] = frozenset()
    """Shingles of texts that many of its pages show: hashes of four words in a row, or of a whole shorter text."""
