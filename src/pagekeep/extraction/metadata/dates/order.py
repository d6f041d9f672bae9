"""Decide whether a page writes the day before the month."""

from __future__ import annotations

import re
from typing import Final

from pagekeep import dom
from pagekeep.text import compile_lazily

_REGION: Final = compile_lazily(r"\A\w+://[^/:?#]+\.([a-z]{2})(?=[:/?#]|\Z)|/en[-_]([a-z]{2})(?=/|\Z)", re.IGNORECASE)
"""A country in the address, which says how dates are written in English there."""
_MONTH_FIRST: Final = frozenset("us ph io co ai tv me fm ly to cc ws gg so sh im la am gl".split())
"""Countries that write the month first, and those whose names anyone uses."""


def is_day_first(document: dom.Document, url: str | None = None) -> bool:
    """Return whether dates have the day first. American ones do not; English without a region is mostly American."""
    language = _declared_language(document) or "en"
    if language == "en" and (region := _REGION.search(url or "")):
        return (region[1] or region[2]).lower() not in _MONTH_FIRST
    return language not in ("en", "en-us", "en-ph", "es-us")


def _declared_language(document: dom.Document) -> str:
    root = dom.first(document, "html")
    return ((root.attr("lang") if root is not None else None) or "").strip().lower().replace("_", "-")
