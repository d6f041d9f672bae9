"""Words of a text: counting them in any script, normalising them, and measuring how far two texts agree."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

WORDS_PER_MINUTE: Final = 200

# Scripts written without spaces between words.
_IDEOGRAPHIC: Final = re.compile(
    "[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_MAYBE_UNSPACED: Final = bytes([0xE0, 0xE1, *range(0xE3, 0xF5)])
"""With which such characters begin in UTF-8, where they are quickly looked for; so do others, but not the quotation marks
and dashes that stand in nearly every text."""
_IDEOGRAPHS_PER_WORD: Final = 2
"""A Chinese word has some 1.6 characters, a Japanese one with its kana more; 200 words a minute are then the 400
characters a minute that readers of both manage."""
_LETTERS_PER_UNSPACED_WORD: Final = 5
"""Thai, Lao, Burmese and Khmer write no spaces between words of about five signs."""


def count_words(text: str) -> int:
    """Words between spaces that hold a letter or digit; where a script writes no spaces, characters by their share."""
    shares = 0
    if not text.isascii() and _may_be_unspaced(text):
        text, ideographs = _IDEOGRAPHIC.subn(" ", text)
        text, unspaced = _UNSPACED.subn(" ", text)
        shares = -(-ideographs // _IDEOGRAPHS_PER_WORD) - (-unspaced // _LETTERS_PER_UNSPACED_WORD)
    words = text.split()
    unsure = [word for word in words if not word[0].isalnum()]
    return len(words) - sum(1 for word in unsure if not any(map(str.isalnum, word))) + shares


def _may_be_unspaced(text: str) -> bool:
    encoded = text.encode("utf-8", "surrogatepass")
    return len(encoded.translate(None, _MAYBE_UNSPACED)) < len(encoded)


def reading_time(words: int) -> str:
    """Such as "8 min", at 200 words a minute and never less than one."""
    return f"{max(1, (words + WORDS_PER_MINUTE // 2) // WORDS_PER_MINUTE)} min"


LINK_TARGET: Final = re.compile(r"(?<=\])\([^()\s]{0,2000}(?: \"[^\"\n]{0,300}\")?\)|<https?://[^<>\s]{0,2000}>")
"""The address of a Markdown link or image, or an autolink."""
_MARKDOWN_SIGNS: Final = re.compile(
    r"^(?:[|: \t-]{3,}$|[ \t]*(?:[#>|]+|[-*+](?= ))[ \t]*)|[*`]+|~~|!(?=\[)|[\[\]\\|]|(?<!\w)_+|_+(?!\w)", re.M
)
_SPACE: Final = re.compile(r"\s+")


def strip_markdown(content: str) -> str:
    """Return Markdown as running text, without link targets and markup."""
    return _SPACE.sub(" ", _MARKDOWN_SIGNS.sub("", LINK_TARGET.sub("", content))).strip()


def printable(text: str) -> str:
    """The text without control characters: what a page says must not steer a terminal, nor break a line."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


def one_line(text: str) -> str:
    """The same in one line, words apart by single spaces."""
    return " ".join(printable(text).split())


# How two texts agree: used by the lab and by the comparison of extractors.

SHINGLE = 3
"""Tokens in a shingle: enough to notice words out of order, few enough that one changed word costs little."""

_WORD = re.compile(r"\w+")
# A sign of a script written without spaces is a token of its own: a whole sentence would otherwise be one word.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(f"[{_CJK}]|[^\\W_{_CJK}]+")
_APOSTROPHES = str.maketrans("", "", "'\u2018\u2019\u02bc\u00ad\u200b")


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
    return agreement(canonical(predicted), canonical(reference))


def agreement(predicted: list[str], reference: list[str]) -> float:
    """The same of two lists of tokens, as they are."""
    ours, theirs = _shingles(predicted), _shingles(reference)
    total = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / total if total else 1.0


def _shingles(tokens: list[str]) -> Counter[tuple[str, ...]]:
    if len(tokens) < SHINGLE:
        return Counter([tuple(tokens)] if tokens else [])
    return Counter(zip(*(tokens[start:] for start in range(SHINGLE)), strict=False))


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
