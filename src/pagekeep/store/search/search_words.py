"""Text as search words, the same for every engine: both index these words and neither splits text itself.

Case and diacritics are folded. Scripts that write no spaces between words (Chinese, Japanese, Thai...), and Korean with its
endings, become one word a character; a query in them is then a phrase, which finds it anywhere inside a longer run.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

LONGEST_WORD: Final = 64
"""Characters. What is longer (base64, hashes) is found by its beginning."""
MOST_CHARACTERS: Final = 2_000_000
"""Of one text that are searched."""
_FEW_CHARACTERS: Final = 200_000
_MOST_BYTES: Final = 900_000
"""Of distinct words: PostgreSQL holds less than a megabyte of them for an item. No real text comes near; one that does is
searched in its first part only."""

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKED: Final = "\u0900-\u0963\u0966-\u0dff\u0f00-\u0f0a\u0f18-\u0fff"
"""Scripts whose vowel signs are no letters to `\\w`, though they stand inside words; the danda that ends a sentence is out."""
_WORD: Final = re.compile(rf"[{_UNSPACED}]|(?:[^\W_{_UNSPACED}]|[{_MARKED}])+")
_SPACED: Final = re.compile(r"[a-z0-9]+")
_MARKS: Final = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670\u0640\u1ab0-\u1aff\u1dc0-\u1dff]"
)
"""Accents, Hebrew points, Arabic vowel signs and the tatweel; but vowel signs of Indian and Thai writing are letters."""
_CACHED_CHARACTERS: Final = 20_000


class _Folding(dict[int, str]):
    """Character to its folded form, worked out at the first meeting."""

    def __missing__(self, code: int) -> str:
        decomposed = unicodedata.normalize("NFKD", chr(code).casefold())
        folded = unicodedata.normalize("NFC", _MARKS.sub("", decomposed)).casefold()
        if len(self) < _CACHED_CHARACTERS:
            self[code] = folded
        return folded


_FOLDING: Final = _Folding()


def fold(text: str) -> str:
    """Without case and diacritics: "Čapek" as "capek"."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text).translate(_FOLDING)


def fold_lengths(text: str) -> list[int]:
    """How many characters each character of the (composed) text becomes."""
    return [len(_FOLDING[ord(character)]) for character in text]


def words(text: str, most: int = MOST_CHARACTERS) -> list[str]:
    """The search words of a text in order."""
    # Composed once more: the half-width kana fold to a letter and a mark.
    folded = unicodedata.normalize("NFC", fold(text[:most])[:most])
    found = _SPACED.findall(folded) if folded.isascii() else _WORD.findall(folded)
    found = [word[:LONGEST_WORD] for word in found]
    if len(folded) > _FEW_CHARACTERS and len("".join(set(found)).encode()) > _MOST_BYTES:
        return words(text, _FEW_CHARACTERS)
    return found


def is_unspaced(word: str) -> bool:
    """Whether the word is a single character of a script without spaces."""
    return len(word) == 1 and not word.isascii() and _UNSPACED_WORD.match(word) is not None


_UNSPACED_WORD: Final = re.compile(f"[{_UNSPACED}]")
