"""Apply the matching rules to a page: before extraction to the raw tree, after it to the extracted tree."""

from __future__ import annotations

from pagekeep.extraction.site_rules.apply import After, Before, apply_after, apply_before, find_suspects, keep_in_place
from pagekeep.extraction.site_rules.guard import Revert, is_destructive, warn_of_reverts
from pagekeep.extraction.site_rules.overrides import apply_overrides
from pagekeep.rules.prefilter import Names

__all__ = [
    "After",
    "Before",
    "Names",
    "Revert",
    "apply_after",
    "apply_before",
    "apply_overrides",
    "find_suspects",
    "is_destructive",
    "keep_in_place",
    "warn_of_reverts",
]
