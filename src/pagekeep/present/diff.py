"""Line-by-line differences between two versions of a text."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from typing import Final

CONTEXT_LINES: Final = 2
MAX_LINES: Final = 20_000
"""Comparing takes quadratic time at worst, so longer texts are not compared."""


def difference(before: str, after: str) -> Iterator[str]:
    """Yield the lines of a unified diff without its file names; nothing if both texts are equal."""
    if before == after:
        return
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > MAX_LINES:
        yield f"@@ {len(old)} lines before, {len(new)} lines after: too many to compare @@"
        return
    lines = unified_diff(old, new, n=CONTEXT_LINES, lineterm="")
    yield from (line for number, line in enumerate(lines) if number > 1)
