"""Learn what the pages of a site have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Final

from pagekeep.model.site import PageSigns, SiteKnowledge

MIN_PAGES: Final = 8
"""Pages that must show a text before it is taken for furniture of the site, and that are needed to learn at all."""
MIN_SHARE: Final = 0.25
"""Share of the pages that must show it: a section may have its own furniture, but a quotation may be on a few pages."""
MAX_SAMPLE: Final = 400
"""Pages from which is learned; more bring nothing, and cost memory."""
_MAJORITY: Final = 0.5
"""Share of the pages from which on they are taken for most of a site's pages; a site may have two kinds of page."""


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


def learn_signs(site: SiteKnowledge, signs: Iterable[PageSigns]) -> SiteKnowledge:
    """Return the knowledge with the selector and the platform's rules that most of the pages agree on, at least eight."""
    pages = list(signs)
    needed = max(MIN_PAGES, _MAJORITY * len(pages))
    selectors = Counter(selector for page in pages for selector in page.selectors)
    rules = Counter(rule for page in pages for rule in page.rules)
    # The one that most pages agree on; of several, the shortest.
    best = min(selectors, key=lambda selector: (-selectors[selector], len(selector), selector), default=None)
    return replace(
        site,
        selector=best if best is not None and selectors[best] >= needed else None,
        rules=tuple(sorted(rule for rule, count in rules.items() if count >= needed)),
    )
