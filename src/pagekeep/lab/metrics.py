"""The numbers that say how near a result comes to its reference."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pagekeep.text import Overlap, WordScore, canonical, overlap, score_words, similarity, words

__all__ = [
    "Overlap",
    "WordScore",
    "canonical",
    "overlap",
    "same_author",
    "same_date",
    "same_title",
    "score_words",
    "similarity",
    "snippet_hits",
    "words",
]

_JOINERS = frozenset({"and", "by", "und", "von", "et", "par", "y", "por"})
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")


def snippet_hits(snippets: Iterable[str], text: str) -> int:
    """How many of the snippets stand in the text, whatever the punctuation and case."""
    haystack = f" {' '.join(canonical(text))} "
    return sum(f" {' '.join(canonical(snippet))} " in haystack for snippet in snippets)


def same_title(found: str | None, gold: str) -> bool:
    """Whether two titles say the same words."""
    return canonical(found or "") == canonical(gold)


def same_author(found: str | None, gold: str) -> bool:
    """Whether two bylines name the same people, in any order."""
    return _names(found or "") == _names(gold)


def _names(byline: str) -> list[str]:
    return sorted(token for token in canonical(byline) if token not in _JOINERS)


def same_date(found: str | None, gold: str) -> bool:
    """Whether two ISO dates agree to the day, or as far as the reference goes when it is vaguer."""
    ours, theirs = _DATE.match(found or ""), _DATE.match(gold)
    return bool(ours and theirs and ours.group().startswith(theirs.group()))
