"""The terms a text keeps coming back to: its words, pairs of words and abbreviations, in its own language."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import Final

from pagekeep.extraction.metadata.tags.common_words import COMMON_WORDS

_READ_CHARACTERS: Final = 8_000
"""A text says early what it is about; twice as much changes few terms and costs twice the time."""
_MIN_COUNT: Final = 4
_MIN_PAIR: Final = 3
_MIN_IDEOGRAPHS: Final = 3
_MAX_TERMS: Final = 12
_TITLE_WEIGHT: Final = 3
_PAIR_WEIGHT: Final = 2
"""A pair says more than either of its words."""
_PAIR_SHARE: Final = 0.5
"""Share of the rarer word's uses from which a pair is a term ("machine learning") and not a chance neighbourhood."""
_WORD: Final = re.compile(r"[^\W\d_]\w*+(?:['-]++\w++)*+")
_SHORT_NAME: Final = re.compile(r"[A-Z](?<!\w.)[A-Z0-9]{1,3}\b")  # beginning with letters, which are quick to look for
_NO_NAMES: Final = frozenset("us uk eu usa faq pdf ok vs am pm ii iii iv tm id tv gt lt amp http www".split())
_PLURALS: Final = ("en", "fr", "es", "pt", "nl", "ca")
"""Languages that make most plurals with an s."""
_UNSPACED: Final = ("th", "lo", "km", "my")
"""Languages whose words are not set apart: their terms cannot be counted without a dictionary."""
_RUN: Final = re.compile("[\u30a1-\u30fa\u30fc]{3,}|[\u3400-\u4dbf\u4e00-\u9fff]{2,6}")
"""Katakana and Han runs, which in Japanese are mostly words."""
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]{2,}")
_PARTICLES: Final = re.compile(
    "[的了是在和有不我你他她它们这那就也都要会对为与及或被把让从到上下中个之其而但如果最更很]"
)


def terms(text: str, title: str, language: str | None) -> list[str]:
    """The text's terms in lower case, the weightiest first; equal ones in the order of their first use."""
    primary = (language or "").partition("-")[0]
    text = text[:_READ_CHARACTERS]
    if primary in _UNSPACED:
        return []
    if primary == "ja":
        return _japanese(text, title)
    if primary == "zh":
        return _chinese(text, title)
    return _spaced(text, title, primary)


def _spaced(text: str, title: str, language: str) -> list[str]:
    said = _words(text)
    titular = frozenset(_words(title))
    spoken = Counter(said)
    short = _short_names(text, spoken, title)
    counts = _merged(spoken, language)
    common = COMMON_WORDS.get(language)
    # Without a list of the language's common words only the title tells the salient from the common.
    telling = {
        word: count
        for word, count in counts.items()
        if count >= _MIN_PAIR and len(word) > 3 and (word not in common if common else word in titular)
    }
    weights = {word: count for word, count in telling.items() if count >= _MIN_COUNT}
    weights |= short
    for (first, second), count in (_pairs(said, telling) if common else {}).items():
        weights[f"{first} {second}"] = count * _PAIR_WEIGHT
        for word in (first, second):
            if count >= _PAIR_SHARE * telling[word]:  # It mostly stands in the pair, so the pair speaks for it.
                weights[f"{first} {second}"] += weights.pop(word, 0)
    for term in weights:
        if all(word in titular for word in term.split()):
            weights[term] *= _TITLE_WEIGHT
    return _without_parts(sorted(weights, key=lambda term: -weights[term]))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("\u2019", "'").replace("'s ", " "))


def _merged(counts: Counter[str], language: str) -> Counter[str]:
    """Counts with plurals added to whichever form is used more."""
    if language not in _PLURALS:
        return counts
    for plural in [word for word in counts if word.endswith("s") and len(word) > 4 and word[:-1] in counts]:
        single = plural[:-1]
        kept, dropped = (plural, single) if counts[plural] > counts[single] else (single, plural)
        counts[kept] += counts.pop(dropped)
    return counts


def _pairs(said: list[str], telling: dict[str, int]) -> dict[tuple[str, str], int]:
    """Telling words that keep standing side by side."""
    beside = Counter([pair for pair in pairwise(said) if pair[0] in telling and pair[1] in telling])
    return {
        pair: count
        for pair, count in beside.items()
        if count >= _MIN_PAIR and pair[0] != pair[1] and count >= _PAIR_SHARE * min(telling[pair[0]], telling[pair[1]])
    }


def _short_names(text: str, spoken: Counter[str], title: str) -> dict[str, int]:
    """Abbreviations such as AI or DNS: short words that the text never writes small."""
    found: dict[str, int] = {}
    for name, count in Counter(_SHORT_NAME.findall(text)).items():
        small = name.lower()
        often = count >= _MIN_COUNT or (count > 1 and name in title)
        if often and spoken[small] <= count and small not in _NO_NAMES:
            found[small] = count
    return found


def _without_parts(ranked: list[str]) -> list[str]:
    """The terms without those that share a word with a weightier one: "machine learning" says "machine" too."""
    kept: list[str] = []
    held: set[str] = set()
    for term in ranked:
        if held.isdisjoint(words := term.split()):
            kept.append(term)
            held.update(words)
    return kept[:_MAX_TERMS]


# --- scripts without spaces -----------------------------------------------------------------------


def _japanese(text: str, title: str) -> list[str]:
    counts = Counter(_RUN.findall(text))
    weights = {
        run: count * (_TITLE_WEIGHT if run in title else 1) for run, count in counts.items() if count >= _MIN_IDEOGRAPHS
    }
    return sorted(weights, key=lambda run: -weights[run])[:_MAX_TERMS]


def _chinese(text: str, title: str) -> list[str]:
    """Pieces of the title that the text repeats, the longest that it repeats as often."""
    weights: dict[str, int] = {}
    for run in _HAN.findall(title[:100]):
        for size in (4, 3, 2):
            for start in range(len(run) - size + 1):
                piece = run[start : start + size]
                if piece in weights or _PARTICLES.search(piece):
                    continue
                count = text.count(piece)
                if count >= _MIN_IDEOGRAPHS and not any(
                    piece in longer and weights[longer] >= count * size for longer in weights
                ):
                    weights[piece] = count * size
    ranked = sorted(weights, key=lambda piece: -weights[piece])
    return _apart(ranked)


def _apart(ranked: list[str]) -> list[str]:
    """Pieces that share no two signs with a weightier one."""
    kept: list[str] = []
    for piece in ranked:
        halves = {piece[start : start + 2] for start in range(len(piece) - 1)}
        if not any(half in other for other in kept for half in halves):
            kept.append(piece)
    return kept[:_MAX_TERMS]
