"""What changed between two readings of a page, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

CONTEXT: int = 2
MOST_LINES: int = 20_000
"""Comparing takes the square of the lines at worst; a reading of more is told as a whole."""


def difference(before: str, after: str) -> Iterator[str]:
    """The lines of a unified diff without its file names; nothing when both are the same."""
    if before == after:
        return
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > MOST_LINES:
        yield f"@@ {len(old)} lines before, {len(new)} lines after: too many to compare @@"
        return
    lines = unified_diff(old, new, n=CONTEXT, lineterm="")
    yield from (line for number, line in enumerate(lines) if number > 1)
