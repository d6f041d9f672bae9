"""Rules for sites and platforms: their schema, loading rule files, and matching rules to a page."""

from __future__ import annotations

from pagekeep.rules.prebuilt import load, shipped
from pagekeep.rules.rulebook import Matched, Rulebook

__all__ = ["Matched", "Rulebook", "load", "shipped"]
