"""Learn what the pages of a site have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Final

from pagekeep.model.site import SiteKnowledge

MIN_PAGES: Final = 8
"""Pages that must show a text before it is taken for furniture of the site, and that are needed to learn at all."""
MIN_SHARE: Final = 0.25
"""Share of the pages that must show it: a section may have its own furniture, but a quotation may be on a few pages."""
MAX_SAMPLE: Final = 400
"""Pages from which is learned; more bring nothing, and cost memory."""


def learn(fingerprints: Iterable[frozenset[int]]) -> SiteKnowledge:
    """Return what at least eight pages, and a quarter of them, have in common. The order of the pages does not matter.

    Pages with the same text count once. At most `MAX_SAMPLE` pages are looked at.
    """
    sample = set(islice(filter(None, fingerprints), MAX_SAMPLE))
    counts: Counter[int] = Counter()
    for shingles in sample:
        counts.update(shingles)
    needed = max(MIN_PAGES, MIN_SHARE * len(sample))
    return SiteKnowledge(len(sample), frozenset(shingle for shingle, count in counts.items() if count >= needed))
