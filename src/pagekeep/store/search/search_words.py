"""Split text into search words, the same for both engines: they index these words and do not split text themselves.

Case and diacritics are folded. In scripts without spaces between words (Chinese, Japanese, Thai...), and in Korean with its
endings, each character is a word; a query in them is then a phrase, which matches anywhere inside a longer run.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from pagekeep.text import fold

MAX_WORD_CHARS: Final = 64
"""Longer words (base64, hashes) are found by their beginning."""
MAX_TEXT_CHARS: Final = 2_000_000
"""The rest of a longer text is not searched."""
_SHORT_TEXT_CHARS: Final = 200_000
_MAX_DISTINCT_BYTES: Final = 900_000
"""Bytes of distinct words: PostgreSQL stores less than a megabyte of them per item. No real text has as many; of one that
does, only the first part is searched."""

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKED: Final = "\u0900-\u0963\u0966-\u0dff\u0f00-\u0f0a\u0f18-\u0fff"
"""Scripts whose vowel signs `\\w` does not match, though they are inside words; without the danda, which ends a sentence."""
_WORD: Final = re.compile(rf"[{_UNSPACED}]|(?:[^\W_{_UNSPACED}]|[{_MARKED}])+")
_SPACED: Final = re.compile(r"[a-z0-9]+")


def words(text: str, max_chars: int = MAX_TEXT_CHARS) -> list[str]:
    """Return the search words of a text in order."""
    # Composed again: half-width kana fold to a letter and a mark.
    folded = unicodedata.normalize("NFC", fold(text[:max_chars])[:max_chars])
    matches = _SPACED.findall(folded) if folded.isascii() else _WORD.findall(folded)
    result = [word[:MAX_WORD_CHARS] for word in matches]
    if len(folded) > _SHORT_TEXT_CHARS and len("".join(set(result)).encode()) > _MAX_DISTINCT_BYTES:
        return words(text, _SHORT_TEXT_CHARS)
    return result


def is_unspaced(word: str) -> bool:
    """Return whether the word is a single character of a script without spaces."""
    return len(word) == 1 and not word.isascii() and _UNSPACED_WORD.match(word) is not None


_UNSPACED_WORD: Final = re.compile(f"[{_UNSPACED}]")
