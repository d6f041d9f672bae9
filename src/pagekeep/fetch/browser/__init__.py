"""Render pages in a browser, for those that need JavaScript."""

from __future__ import annotations

from pagekeep.fetch.browser.browser import Browser, PageScreenshot

__all__ = ["Browser", "PageScreenshot"]
