"""Metrics that compare a result with its reference."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pagekeep.text import Overlap, WordScore, normalise_tokens, overlap, score_words, similarity, split_words

__all__ = [
    "Overlap",
    "WordScore",
    "count_snippets",
    "normalise_tokens",
    "overlap",
    "same_author",
    "same_date",
    "same_title",
    "score_words",
    "similarity",
    "split_words",
]

_JOINERS = frozenset({"and", "by", "und", "von", "et", "par", "y", "por"})
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")


def count_snippets(snippets: Iterable[str], text: str) -> int:
    """Return how many of the snippets are in the text, ignoring punctuation and case."""
    haystack = f" {' '.join(normalise_tokens(text))} "
    return sum(f" {' '.join(normalise_tokens(snippet))} " in haystack for snippet in snippets)


def same_title(found: str | None, gold: str) -> bool:
    """Return whether two titles have the same words."""
    return normalise_tokens(found or "") == normalise_tokens(gold)


def same_author(found: str | None, gold: str) -> bool:
    """Return whether two bylines name the same people, in any order."""
    return _name_words(found or "") == _name_words(gold)


def _name_words(byline: str) -> list[str]:
    return sorted(token for token in normalise_tokens(byline) if token not in _JOINERS)


def same_date(found: str | None, gold: str) -> bool:
    """Return whether two ISO dates agree to the day, or to the month or year when the reference has no more."""
    date, reference = _DATE.match(found or ""), _DATE.match(gold)
    return bool(date and reference and date.group().startswith(reference.group()))
