"""Dates: how pages write them, and which one is that of the publication."""

from __future__ import annotations

from pagekeep.extraction.metadata.dates.parse import parse_month, remove_date, to_iso

__all__ = ["parse_month", "remove_date", "to_iso"]
