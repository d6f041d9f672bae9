"""Items and their state: find, change, tag, list, annotate and read them."""

from __future__ import annotations
