"""Find the terms that a text repeats: words, pairs of words and abbreviations, by its language."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from pagekeep.extraction.metadata.tags.common_words import COMMON_WORDS
from pagekeep.text import compile_lazily

_READ_CHARS: Final = 8_000
"""A text states its subject early; twice as much text changes few terms and takes twice the time."""
_MIN_COUNT: Final = 4
"""Uses of a word, of a pair and of a run of ideographs that make it a term; rarer ones are chance."""
_MIN_PAIR_COUNT: Final = 3
_MIN_RUN_COUNT: Final = 3
_MIN_WORD_CHARS: Final = 4
_MIN_PLURAL_CHARS: Final = 5
_MAX_TERMS: Final = 12
_MIN_NAME_COUNT: Final = 8
"""Uses of an abbreviation that the title does not have."""
STEM_CHARS: Final = 4
"""Letters at the start that two forms of a word share at least."""
_MAX_ENDING_CHARS: Final = 3
"""Letters by which two forms of a word differ at the end, at most."""
_TITLE_CHARS: Final = 100
_TITLE_WEIGHT: Final = 3
"""A term that is also in the title counts three times."""
_PAIR_WEIGHT: Final = 2
"""A pair is more specific than either of its words."""
_PAIR_SHARE: Final = 0.5
"""A pair is a term ("machine learning") if it makes up this share of the rarer word's uses; else it is chance."""
_WORD: Final = re.compile(r"[^\W\d_]\w*+(?:['-]++\w++)*+")
_WORD_SIGNS: Final = bytes(
    code if code > 127 or chr(code).isalnum() or chr(code) in "_'-" else ord(" ") for code in range(256)
)
"""Turns everything in ASCII that is not part of a word into a space."""
_SHORT_NAME: Final = re.compile(r"[A-Z](?<!\w.)[A-Z0-9]{1,3}\b")  # starts with letters, which are fast to search for
_NOT_NAMES: Final = frozenset("us uk eu usa faq pdf ok vs am pm its ii iii iv tm id tv gt lt amp http www".split())
_GENERIC: Final = frozenset(
    "account accounts activities advice analysis answer answers application applications approach april area areas"
    " article august base beginner behavior benefit benefits business challenge change changes choice choose class"
    " classes clean code companies company complete course courses customer customers data day days december design"
    " detail details development different easy edition electric employee employees essential event events example"
    " examples experience expert experts explained fact facts favorite feature features february friday future game"
    " games general goals group guide help history home house idea ideas impact important industry innovation"
    " innovations insight instruction interview introduction january july june kind learning lessons level life list"
    " local making management march market member members method methods million model models month months need"
    " november number october online option options order overview part people place plan planning platform"
    " platforms play point practice practices price prices principles private problem problems process product"
    " products program programs progress project projects question questions real reason reasons record recruiting"
    " report research resource result results review reviews rise role sales search selection september series"
    " service services simple size skill skills software solution solutions sound source special standard start"
    " states step steps story strategies strategy student students study success support system systems team"
    " technology term test thing things time tips title tool tools top trend trends tried type types update updates"
    " user users value version video week weeks women work working workspace world year years york".split()
)
"""English words that are often in titles and too general to be tags by themselves."""
_PLURALS: Final = ("en", "fr", "es", "pt", "nl", "ca")
"""Languages that form most plurals with an s."""
_UNSPACED: Final = ("th", "lo", "km", "my")
"""Languages without spaces between words: their terms cannot be counted without a dictionary."""
_RUN: Final = compile_lazily("[\u30a1-\u30fa\u30fc]{3,}|[\u3400-\u4dbf\u4e00-\u9fff]{2,6}")
"""Runs of katakana and of ideographs, which in Japanese are mostly words."""
_HAN: Final = compile_lazily("[\u3400-\u4dbf\u4e00-\u9fff]{2,}")
_PARTICLES: Final = compile_lazily(
    "[的了是在和有不我你他她它们这那就也都要会对为与及或被把让从到上下中个之其而但如果最更很]"
)


def find_terms(text: str, title: str, language: str | None) -> list[str]:
    """Return the text's terms in lower case, highest weight first; ties in the order of their first use."""
    primary = (language or "").partition("-")[0]
    text = text[:_READ_CHARS]
    if primary in _UNSPACED:
        return []
    if primary == "ja":
        return _japanese_terms(text, title)
    if primary == "zh":
        return _chinese_terms(text, title)
    return _terms_of_words(text, title, primary)


def _terms_of_words(text: str, title: str, language: str) -> list[str]:
    words = _words(text)
    title_words = frozenset(_words(title))
    raw_counts = Counter(words)
    abbreviations = _abbreviations(text, raw_counts, title)
    counts = _merge_plurals(raw_counts, language)
    common = COMMON_WORDS.get(language)
    # Without a list of the language's common words only the title separates salient words from common ones.
    salient = {
        word: count
        for word, count in counts.items()
        if count >= _MIN_PAIR_COUNT
        and len(word) >= _MIN_WORD_CHARS
        and (word not in common if common else word in title_words)
    }
    weights = {word: count for word, count in salient.items() if count >= _MIN_COUNT}
    weights |= abbreviations
    for (first, second), count in (_pairs(words, salient) if common else {}).items():
        weights[f"{first} {second}"] = count * _PAIR_WEIGHT
        for word in (first, second):
            if count >= _PAIR_SHARE * salient[word]:  # It occurs mostly in the pair, which replaces it.
                weights[f"{first} {second}"] += weights.pop(word, 0)
    for term in weights:
        if all(word in title_words for word in term.split()):
            weights[term] *= _TITLE_WEIGHT
    return _remove_overlapping(sorted(weights, key=lambda term: -weights[term]))


def find_subjects(text: str, title: str, language: str | None) -> list[str]:
    """Return the terms that say what the text is about: those with a word of the title, and frequent abbreviations.

    A term that is only frequent (`users`, `selection`, `units figure`) is rarely worth a click.
    """
    title_words = frozenset(_words(title))
    terms = find_terms(text, title, language)
    if (language or "").partition("-")[0] in ("ja", "zh"):
        return [term for term in terms if term in title]
    return [term for term in terms if _is_subject(term, title_words, text)]


def _is_subject(term: str, title_words: frozenset[str], text: str) -> bool:
    words = term.split()
    if any(same_stem(word, other) for word in words for other in title_words if word[0] == other[0]):
        return len(words) > 1 or term not in _GENERIC
    is_name = len(words) == 1 and len(term) <= _MIN_WORD_CHARS
    return is_name and text[:_READ_CHARS].count(term.upper()) >= _MIN_NAME_COUNT


def same_stem(one: str, other: str) -> bool:
    """Return whether two words are probably forms of one: `message` and `messaging`, `rent` and `rental`."""
    if one == other:
        return True
    if one[:STEM_CHARS] != other[:STEM_CHARS] or len(one) < STEM_CHARS or len(other) < STEM_CHARS:
        return False
    shared = max(STEM_CHARS, max(len(one), len(other)) - _MAX_ENDING_CHARS)
    return one[:shared] == other[:shared]


def _words(text: str) -> list[str]:
    text = text.lower().replace("\u2019", "'").replace("'s ", " ")
    words: list[str] = []
    # Most words have nothing but letters: searching only the others by the pattern takes two thirds of the time.
    for word in text.encode("utf-8", "surrogatepass").translate(_WORD_SIGNS).decode("utf-8", "surrogatepass").split():
        if word.isalpha():
            words.append(word)
        else:
            words += _WORD.findall(word)
    return words


def _merge_plurals(counts: Counter[str], language: str) -> Counter[str]:
    """Return the counts with singular and plural added up under the more frequent form."""
    if language not in _PLURALS:
        return counts
    for plural in [word for word in counts if word[-1] == "s" and len(word) >= _MIN_PLURAL_CHARS]:
        single = plural[:-1]
        # A form may have been merged already, as "princes" with "prince" when "princess" is looked at.
        if single.endswith("s") or single not in counts or plural not in counts:
            continue
        kept, merged = (plural, single) if counts[plural] > counts[single] else (single, plural)
        counts[kept] += counts.pop(merged)
    return counts


def _pairs(words: list[str], salient: dict[str, int]) -> dict[tuple[str, str], int]:
    """Return the pairs of salient words that often follow each other."""
    neighbours: dict[tuple[str, str], int] = {}
    before = ""
    for word in words:
        if word not in salient:
            before = ""
            continue
        if before:
            neighbours[before, word] = neighbours.get((before, word), 0) + 1
        before = word
    return {
        pair: count
        for pair, count in neighbours.items()
        if count >= _MIN_PAIR_COUNT
        and pair[0] != pair[1]
        and count >= _PAIR_SHARE * min(salient[pair[0]], salient[pair[1]])
    }


def _abbreviations(text: str, raw_counts: Counter[str], title: str) -> dict[str, int]:
    """Return abbreviations such as AI or DNS: short words that the text never has in lower case."""
    counts: dict[str, int] = {}
    for name, count in Counter(_SHORT_NAME.findall(text)).items():
        lower = name.lower()
        is_frequent = count >= _MIN_COUNT or (count > 1 and name in title)
        if is_frequent and raw_counts[lower] <= count and lower not in _NOT_NAMES:
            counts[lower] = count
    return counts


def _remove_overlapping(ranked: list[str]) -> list[str]:
    """Return the terms without those that share a word with a weightier one: "machine learning" covers "machine"."""
    kept: list[str] = []
    used: set[str] = set()
    for term in ranked:
        if used.isdisjoint(words := term.split()):
            kept.append(term)
            used.update(words)
    return kept[:_MAX_TERMS]


# --- scripts without spaces -----------------------------------------------------------------------


def _japanese_terms(text: str, title: str) -> list[str]:
    counts = Counter(_RUN.findall(text))
    weights = {
        run: count * (_TITLE_WEIGHT if run in title else 1) for run, count in counts.items() if count >= _MIN_RUN_COUNT
    }
    return sorted(weights, key=lambda run: -weights[run])[:_MAX_TERMS]


def _chinese_terms(text: str, title: str) -> list[str]:
    """Return pieces of the title that the text repeats, preferring longer pieces that are as frequent."""
    weights: dict[str, int] = {}
    for run in _HAN.findall(title[:_TITLE_CHARS]):
        for size in (4, 3, 2):
            for start in range(len(run) - size + 1):
                piece = run[start : start + size]
                if piece in weights or _PARTICLES.search(piece):
                    continue
                count = text.count(piece)
                if count >= _MIN_RUN_COUNT and not any(
                    piece in longer and weights[longer] >= count * size for longer in weights
                ):
                    weights[piece] = count * size
    ranked = sorted(weights, key=lambda piece: -weights[piece])
    return _remove_overlapping_pieces(ranked)


def _remove_overlapping_pieces(ranked: list[str]) -> list[str]:
    """Return the pieces that share no two adjacent characters with a weightier one."""
    kept: list[str] = []
    for piece in ranked:
        halves = {piece[start : start + 2] for start in range(len(piece) - 1)}
        if not any(half in other for other in kept for half in halves):
            kept.append(piece)
    return kept[:_MAX_TERMS]
