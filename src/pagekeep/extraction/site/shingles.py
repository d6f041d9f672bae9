"""Cut a text into shingles: every four words in a row, as numbers that are the same on every machine."""

from __future__ import annotations

from typing import Final
from zlib import crc32

from pagekeep.text import compile_lazily

SHINGLE_WORDS: Final = 4
MAX_SHINGLES: Final = 20_000
"""Shingles of one page that are looked at; a page of 20,000 words is long."""
_WORD: Final = compile_lazily(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+"
)
"""A word, or one character of a script without spaces between words."""
_DIGITS: Final = compile_lazily(r"\d+")


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case; numbers are all the same, because counters and dates change."""
    return [_DIGITS.sub("0", word) for word in _WORD.findall(text.lower())]


def make_shingles(words: list[str]) -> list[int]:
    """Return the shingles of a block; one with fewer words is a single shingle."""
    if not words:
        return []
    count = max(1, len(words) - SHINGLE_WORDS + 1)
    return [crc32(" ".join(words[first : first + SHINGLE_WORDS]).encode("utf-8", "replace")) for first in range(count)]


def fingerprint(text: str) -> frozenset[int]:
    """Return the shingles of a page's text (`Page.text`), block by block."""
    found: set[int] = set()
    for line in text.splitlines():
        found.update(make_shingles(split_words(line)))
        if len(found) >= MAX_SHINGLES:
            break
    return frozenset(found)
