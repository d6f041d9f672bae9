"""Declarative knowledge about sites and platforms: what a rule says, how files of them are read, which match a page."""

from __future__ import annotations

from pagekeep.rules.loading import load, shipped
from pagekeep.rules.rulebook import Matched, Rulebook

__all__ = ["Matched", "Rulebook", "load", "shipped"]
