"""From a page to an item: save, preview, reparse, and what becomes of saves that fail."""

from __future__ import annotations
