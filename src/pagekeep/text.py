"""Count and normalise the words of a text in any script, and measure how similar two texts are."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import filterfalse
from typing import Any, AnyStr, Final, NamedTuple, cast
from urllib.parse import unquote, urlsplit

from pagekeep.values import interpreted


@interpreted
class _LazyPattern:
    """A regular expression that is compiled when one of its methods is first used."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked for by `copy` and the like
            raise AttributeError(name)
        value = getattr(re.compile(*self._source), name)
        setattr(self, name, value)  # found without this function from now on
        return value


def compile_lazily(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression that is compiled when it is first used: there are hundreds, and a page needs few of them.

    One that nearly every page needs is compiled with `re.compile`, which makes its calls a little faster.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


WORDS_PER_MINUTE: Final = 200
"""Average silent reading speed."""

# Scripts written without spaces between words.
_IDEOGRAPHIC: Final = compile_lazily(
    "[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_UNSPACED: Final = compile_lazily("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_MAYBE_UNSPACED: Final = bytes([0xE0, 0xE1, *range(0xE3, 0xF5)])
"""First bytes of such characters in UTF-8, by which a text is quickly checked. Some other characters have them too, but not
the quotation marks and dashes of nearly every text."""
_IDEOGRAPHS_PER_WORD: Final = 2
"""A Chinese word has about 1.6 characters, a Japanese one with its kana more; at 200 words per minute this makes the 400
characters per minute that people read in both."""
_LETTERS_PER_UNSPACED_WORD: Final = 5
"""Thai, Lao, Burmese and Khmer have no spaces between words, which have about five characters."""


def count_words(text: str) -> int:
    """Count the words: texts between spaces with a letter or digit, and characters by their share in scripts without spaces."""
    shares = 0
    if not text.isascii() and _may_be_unspaced(text):
        text, ideographs = _IDEOGRAPHIC.subn(" ", text)
        text, unspaced = _UNSPACED.subn(" ", text)
        shares = -(-ideographs // _IDEOGRAPHS_PER_WORD) - (-unspaced // _LETTERS_PER_UNSPACED_WORD)
    words = text.split()
    unsure = [word for word in filterfalse(str.isalnum, words) if not word[0].isalnum()]
    return len(words) - sum(1 for word in unsure if not any(map(str.isalnum, word))) + shares


def _may_be_unspaced(text: str) -> bool:
    encoded = text.encode("utf-8", "surrogatepass")
    return len(encoded.translate(None, _MAYBE_UNSPACED)) < len(encoded)


def number_of(count: int, noun: str) -> str:
    """Return a number with its noun: "1 word", "2 words"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def reading_time(words: int) -> str:
    """Return the reading time, such as "8 min", at least one minute."""
    return f"{max(1, (words + WORDS_PER_MINUTE // 2) // WORDS_PER_MINUTE)} min"


LINK_TARGET: Final = compile_lazily(r"(?<=\])\([^()\s]{0,2000}(?: \"[^\"\n]{0,300}\")?\)|<https?://[^<>\s]{0,2000}>")
"""The address of a Markdown link or image, or an autolink."""
_MARKDOWN_SIGNS: Final = compile_lazily(
    r"^(?:[|: \t-]{3,}$|[ \t]*(?:[#>|]+|[-*+](?= ))[ \t]*)|[*`]+|~~|!(?=\[)|[\[\]\\|]|(?<!\w)_+|_+(?!\w)", re.M
)
_SPACE: Final = compile_lazily(r"\s+")


def strip_markdown(content: str) -> str:
    """Return Markdown as running text, without link targets and markup."""
    return _SPACE.sub(" ", _MARKDOWN_SIGNS.sub("", LINK_TARGET.sub("", content))).strip()


def printable(text: str) -> str:
    """Return the text in one line without control characters, so that a page's text cannot control a terminal."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


def one_line(text: str) -> str:
    """Return the printable text with single spaces between words."""
    return " ".join(printable(text).split())


# Texts that are equal whatever their case and diacritics: search words, tags, names.

_MARKS: Final = compile_lazily(
    "[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670\u0640\u1ab0-\u1aff\u1dc0-\u1dff]"
)
"""Accents, Hebrew points, Arabic vowel signs and the tatweel; vowel signs of Indian and Thai scripts count as letters."""
_CACHED_CHARACTERS: Final = 20_000


class _Folding(dict[int, str]):
    """Character to its folded form, computed when first needed."""

    def __missing__(self, code: int) -> str:
        decomposed = unicodedata.normalize("NFKD", chr(code).casefold())
        folded = unicodedata.normalize("NFC", _MARKS.sub("", decomposed)).casefold()
        if len(self) < _CACHED_CHARACTERS:
            self[code] = folded
        return folded


_FOLDING: Final = _Folding()


def fold(text: str) -> str:
    """Return the text without case and diacritics: "capek" for "Čapek"."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text).translate(_FOLDING)


def fold_lengths(text: str) -> list[int]:
    """Return how many characters each character of the (composed) text becomes when folded."""
    return [len(_FOLDING[ord(character)]) for character in text]


# How similar two texts are: used by the lab and by the comparison with a remote reader.

SHINGLE_TOKENS = 3
"""Enough to notice words in another order, and few enough that one changed word costs little."""

_WORD = compile_lazily(r"\w+")
# In scripts without spaces each character is a token; otherwise a whole sentence would be one word.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = compile_lazily(f"[{_CJK}]|[^\\W_{_CJK}]+")
_APOSTROPHES = str.maketrans("", "", "'\u2018\u2019\u02bc\u00ad\u200b")


class WordScore(NamedTuple):
    """How the words of a result match those of the reference, as multisets."""

    precision: float
    recall: float
    f1: float
    missing: int
    """Words of the reference that are not in the result."""
    extra: int
    """Words of the result that are not in the reference."""


class Overlap(NamedTuple):
    """How the URLs of a result match those of the reference."""

    coverage: float | None
    """Share of the reference's URLs in the result; `None` when the reference has none."""
    missing: int
    extra: int


def split_words(text: str) -> list[str]:
    """Return the lower-case words that the F1 score counts."""
    return _WORD.findall(text.lower())


def score_words(predicted: str, reference: str) -> WordScore:
    """Return precision, recall and F1 over the multiset of lower-case words."""
    ours, theirs = split_words(predicted), split_words(reference)
    if not ours or not theirs:
        same = float(not ours and not theirs)
        return WordScore(same, same, same, len(theirs), len(ours))
    shared = sum((Counter(ours) & Counter(theirs)).values())
    precision, recall = shared / len(ours), shared / len(theirs)
    f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
    return WordScore(precision, recall, f1, len(theirs) - shared, len(ours) - shared)


def normalise_tokens(text: str) -> list[str]:
    """Return the text's tokens without differences of Unicode form, case, quotes, dashes and spacing."""
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).casefold())


def similarity(predicted: str, reference: str) -> float:
    """Return the Dice coefficient over the shingles of both texts: 1.0 for the same words in the same order."""
    return token_similarity(normalise_tokens(predicted), normalise_tokens(reference))


def token_similarity(predicted: list[str], reference: list[str]) -> float:
    """Return the Dice coefficient over the shingles of two lists of tokens."""
    ours, theirs = _shingles(predicted), _shingles(reference)
    total = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / total if total else 1.0


def _shingles(tokens: list[str]) -> Counter[tuple[str, ...]]:
    if len(tokens) < SHINGLE_TOKENS:
        return Counter([tuple(tokens)] if tokens else [])
    return Counter(zip(*(tokens[start:] for start in range(SHINGLE_TOKENS)), strict=False))


def overlap(predicted: Iterable[str], reference: Iterable[str]) -> Overlap:
    """Compare two lists of URLs, each URL once."""
    ours = {normalise_url(url) for url in predicted} - {""}
    theirs = {normalise_url(url) for url in reference} - {""}
    shared = len(ours & theirs)
    return Overlap(shared / len(theirs) if theirs else None, len(theirs) - shared, len(ours) - shared)


def normalise_url(url: str) -> str:
    """Return a URL without scheme, `www.`, fragment and last slash; empty for `#x` and `data:`."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url.strip()
    if parts.scheme in {"data", "javascript"}:
        return ""
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.netloc.lower().removeprefix('www.')}{unquote(parts.path).rstrip('/')}{query}"
