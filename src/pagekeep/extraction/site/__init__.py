"""Site knowledge: what many pages of one site have in common, learned from their texts and their trees."""

from __future__ import annotations

from pagekeep.extraction.site.learn import MAX_SAMPLE, MIN_PAGES, learn, learn_signs
from pagekeep.extraction.site.shingles import fingerprint
from pagekeep.extraction.site.signs import MAX_SIGNS, read_signs

__all__ = ["MAX_SAMPLE", "MAX_SIGNS", "MIN_PAGES", "fingerprint", "learn", "learn_signs", "read_signs"]
