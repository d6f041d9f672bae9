"""The numbers, each a pure function of two texts or two lists."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

SHINGLE = 3
"""Tokens in a shingle: enough to notice words out of order, few enough that one changed word costs little."""

_WORD = re.compile(r"\w+")
# A sign of a script written without spaces is a token of its own: a whole sentence would otherwise be one word.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(f"[{_CJK}]|[^\\W_{_CJK}]+")
_APOSTROPHES = str.maketrans("", "", "'\u2018\u2019\u02bc\u00ad\u200b")
_JOINERS = frozenset({"and", "by", "und", "von", "et", "par", "y", "por"})
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")


class WordScore(NamedTuple):
    """How the words of a result agree with the words of the reference, as multisets."""

    precision: float
    recall: float
    f1: float
    missing: int
    """Words of the reference that the result lacks."""
    extra: int
    """Words of the result that the reference lacks."""


class Overlap(NamedTuple):
    """How a result's addresses agree with the reference's."""

    coverage: float | None
    """Share of the reference found in the result; `None` when the reference has none."""
    missing: int
    extra: int


def words(text: str) -> list[str]:
    """The words the F1 counts."""
    return _WORD.findall(text.lower())


def score_words(predicted: str, reference: str) -> WordScore:
    """Precision, recall and F1 over the multiset of lower-cased words."""
    ours, theirs = words(predicted), words(reference)
    if not ours or not theirs:
        same = float(not ours and not theirs)
        return WordScore(same, same, same, len(theirs), len(ours))
    shared = sum((Counter(ours) & Counter(theirs)).values())
    precision, recall = shared / len(ours), shared / len(theirs)
    f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
    return WordScore(precision, recall, f1, len(theirs) - shared, len(ours) - shared)


def canonical(text: str) -> list[str]:
    """The text's tokens after normalisation: forms, case, quotes, dashes and spacing no longer tell texts apart."""
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).casefold())


def similarity(predicted: str, reference: str) -> float:
    """Dice coefficient over the shingles of both canonical texts: 1.0 for the same words in the same order."""
    ours, theirs = _shingles(canonical(predicted)), _shingles(canonical(reference))
    total = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / total if total else 1.0


def _shingles(tokens: list[str]) -> Counter[tuple[str, ...]]:
    if len(tokens) < SHINGLE:
        return Counter([tuple(tokens)] if tokens else [])
    return Counter(zip(*(tokens[start:] for start in range(SHINGLE)), strict=False))


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


def overlap(found: Iterable[str], gold: Iterable[str]) -> Overlap:
    """How two lists of addresses agree, each address once."""
    ours, theirs = {address(url) for url in found} - {""}, {address(url) for url in gold} - {""}
    shared = len(ours & theirs)
    return Overlap(shared / len(theirs) if theirs else None, len(theirs) - shared, len(ours) - shared)


def address(url: str) -> str:
    """A URL without what tells no places apart: scheme, `www.`, fragment, last slash. Empty for `#x` and `data:`."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url.strip()
    if parts.scheme in {"data", "javascript"}:
        return ""
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.netloc.lower().removeprefix('www.')}{unquote(parts.path).rstrip('/')}{query}"
