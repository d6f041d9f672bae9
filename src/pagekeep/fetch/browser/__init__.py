"""Pages out of the browser, for those that need their scripts to be read."""

from __future__ import annotations

from pagekeep.fetch.browser.browser import Browser, Pictured

__all__ = ["Browser", "Pictured"]
