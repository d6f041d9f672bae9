"""Site knowledge: what many pages of one site have in common, learned from their texts."""

from __future__ import annotations

from pagekeep.extraction.site.learn import MAX_SAMPLE, MIN_PAGES, learn
from pagekeep.extraction.site.shingles import fingerprint

__all__ = ["MAX_SAMPLE", "MIN_PAGES", "fingerprint", "learn"]
