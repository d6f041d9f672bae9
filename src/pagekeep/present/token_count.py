"""Estimate the number of tokens of a text for a language model; models differ, so this is approximate."""

from __future__ import annotations

import re
from typing import Final

_WIDE: Final = re.compile(r"[^\x00-\u02ff]")
_CHARS_PER_TOKEN: Final = 4.0
"""Of Latin text; a character of another script is about one token."""


def estimate(text: str) -> int:
    """Return the approximate number of tokens."""
    wide = len(_WIDE.findall(text))
    return round(wide + (len(text) - wide) / _CHARS_PER_TOKEN)


def trim(text: str, max_tokens: int) -> str:
    """Return as many whole lines as fit; if the first line does not fit, its beginning."""
    lines: list[str] = []
    left = float(max_tokens)
    for line in text.splitlines(keepends=True):
        cost = estimate(line)
        if cost > left:
            return "".join(lines) or line[: max(0, int(left))]
        lines.append(line)
        left -= cost
    return text
