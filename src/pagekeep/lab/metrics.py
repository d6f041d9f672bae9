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

_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")


def count_snippets(snippets: Iterable[str], text: str) -> int:
    """Return how many of the snippets are in the text, letter by letter."""
    return sum(snippet in text for snippet in snippets)


def same_title(found: str | None, gold: str) -> bool:
    """Return whether two titles have the same words."""
    return normalise_tokens(found or "") == normalise_tokens(gold)


def same_author(found: str | None, gold: str) -> bool:
    """Return whether two bylines have the same words, or one contains the other."""
    ours, theirs = " ".join(normalise_tokens(found or "")), " ".join(normalise_tokens(gold))
    return bool(ours) and (ours in theirs or theirs in ours)


def same_date(found: str | None, gold: str) -> bool:
    """Return whether two ISO dates agree to the day, or to the month or year when the reference has no more."""
    date, reference = _DATE.match(found or ""), _DATE.match(gold)
    return bool(date and reference and date.group().startswith(reference.group()))
