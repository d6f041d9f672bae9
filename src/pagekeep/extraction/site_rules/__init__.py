"""Apply the matching rules to a page: before extraction to the raw tree, after it to the extracted tree."""

from __future__ import annotations

from pagekeep.extraction.site_rules.apply import After, Before, apply_after, apply_before, keep_in_place
from pagekeep.extraction.site_rules.overrides import apply_overrides

__all__ = ["After", "Before", "apply_after", "apply_before", "apply_overrides", "keep_in_place"]
