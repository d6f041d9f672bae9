"""Counting words in any script, and the time they take to read."""

from __future__ import annotations

import re
from typing import Final

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


def printable(text: str) -> str:
    """The text without control characters: what a page says must not steer a terminal, nor break a line."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


def one_line(text: str) -> str:
    """The same in one line, words apart by single spaces."""
    return " ".join(printable(text).split())
