"""How many tokens a text costs a language model, about: models differ, and none is asked."""

from __future__ import annotations

import re
from typing import Final

_WIDE: Final = re.compile(r"[^\x00-\u02ff]")
_PER_TOKEN: Final = 4.0
"""Characters of Latin text in a token; a character of any other script is about one by itself."""


def estimate(text: str) -> int:
    """About so many."""
    wide = len(_WIDE.findall(text))
    return round(wide + (len(text) - wide) / _PER_TOKEN)


def trim(text: str, most: int) -> str:
    """As many whole lines as cost no more than that; of a first line that costs more, its beginning."""
    kept: list[str] = []
    left = float(most)
    for line in text.splitlines(keepends=True):
        cost = estimate(line)
        if cost > left:
            return "".join(kept) or line[: max(0, int(left))]
        kept.append(line)
        left -= cost
    return text
