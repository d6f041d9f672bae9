"""Counting words in any script, and the time they take to read."""

from __future__ import annotations

import re
from typing import Final

WORDS_PER_MINUTE: Final = 200

_WORD: Final = re.compile(r"[^\W_]\S*")
_IDEOGRAPHIC: Final = re.compile(
    "[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_IDEOGRAPHS_PER_WORD: Final = 2
"""A Chinese word has some 1.6 characters, a Japanese one with its kana more; 200 words a minute are then the 400
characters a minute that readers of both manage."""
_LETTERS_PER_UNSPACED_WORD: Final = 5
"""Thai, Lao, Burmese and Khmer write no spaces between words of about five signs."""


def count_words(text: str) -> int:
    """Words between spaces that hold a letter or digit; where a script writes no spaces, characters by their share."""
    if text.isascii():
        return len(_WORD.findall(text))
    ideographs = len(_IDEOGRAPHIC.findall(text))
    unspaced = len(_UNSPACED.findall(text))
    if ideographs:
        text = _IDEOGRAPHIC.sub(" ", text)
    if unspaced:
        text = _UNSPACED.sub(" ", text)
    shares = -(-ideographs // _IDEOGRAPHS_PER_WORD) - (-unspaced // _LETTERS_PER_UNSPACED_WORD)
    return len(_WORD.findall(text)) + shares


def reading_time(words: int) -> str:
    """Such as "8 min", at 200 words a minute and never less than one."""
    return f"{max(1, (words + WORDS_PER_MINUTE // 2) // WORDS_PER_MINUTE)} min"
