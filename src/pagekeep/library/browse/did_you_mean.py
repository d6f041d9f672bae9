"""What a search that finds nothing may have meant: its words replaced by the nearest ones of the library."""

from __future__ import annotations

import re
from typing import Final

from pagekeep.errors import PagekeepError
from pagekeep.store import Store, parse_query
from pagekeep.store.search.search_words import words

_MAX_WORDS: Final = 8
_WORD: Final = re.compile(r"[^\W\d_]{4,24}")


def correct_query(store: Store, text: str) -> str | None:
    """Return the text with its mistakes corrected, if that finds something; `None` when nothing better is known.

    Only plain words are corrected, not filters or what is in quotes.
    """
    if '"' in text:
        return None
    changed = False
    parts = text.split()
    for at, part in enumerate(parts[:_MAX_WORDS]):
        if ":" in part or part.startswith("-") or not _WORD.fullmatch(part.rstrip("*")):
            continue
        [*folded] = words(part)
        if len(folded) != 1:
            continue
        nearest = store.nearest_word(folded[0], prefix=at == len(parts) - 1 or part.endswith("*"))
        if nearest is not None:
            parts[at], changed = nearest, True
    corrected = " ".join(parts)
    return corrected if changed and _finds(store, corrected) else None


def _finds(store: Store, text: str) -> bool:
    try:
        return bool(store.find(parse_query(text, limit=1)).hits)
    except PagekeepError:
        return False
