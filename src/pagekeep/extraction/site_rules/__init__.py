"""What matching rules do to a page: before the extractor on the raw tree, after it on what was extracted."""

from __future__ import annotations

from pagekeep.extraction.site_rules.apply import After, Before, after, before, keep_in_place
from pagekeep.extraction.site_rules.overrides import apply as with_overrides

__all__ = ["After", "Before", "after", "before", "keep_in_place", "with_overrides"]
