"""Locate: survey the page, exclude its boilerplate, and find its content by one of the strategies."""

from __future__ import annotations

from pagekeep.extraction.locate.page_facts import STEPS

__all__ = ["STEPS"]
