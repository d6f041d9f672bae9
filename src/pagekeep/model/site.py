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
    selector: str | None = None
    """The element that has the content of most of its pages; each page must confirm it."""
    rules: tuple[str, ...] = ()
    """Rules of the platform that made most of its pages, by id: they apply to all of its pages."""


@dataclass(frozen=True, slots=True)
class PageSigns:
    """What one page shows of how its site is made. Made by `pagekeep.extraction.site.read_signs`."""

    selectors: tuple[str, ...] = ()
    """Selectors that find the element of its content, and nothing else on the page."""
    rules: tuple[str, ...] = ()
    """Rules that recognised the page by what it contains."""
