"""Articles over several pages: where the next page is, and whether another page belongs to the same article."""

from __future__ import annotations

from pagekeep.extraction.pages.find import find, may_continue

__all__ = ["find", "may_continue"]
