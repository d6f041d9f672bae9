"""Snippets: the text around the words that a search found."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, chain
from typing import Final

from pagekeep.model import Item, Term
from pagekeep.store.search.indexed_text import without_frontmatter
from pagekeep.store.search.search_words import is_unspaced
from pagekeep.text import fold, fold_lengths, strip_markdown

OPEN, CLOSE = "[[", "]]"
MAX_CHARS: Final = 200
"""About: words are not cut."""
_SEARCHED_CHARS: Final = 200_000
"""Characters of the content that are searched; for words found later, the beginning is shown."""
_CHUNK_CHARS: Final = 1_200
"""Characters of content that are converted to running text at a time."""
_CHARS_BEFORE: Final = 60
"""Characters shown before the first word found."""
_MAX_WORD_SHIFT: Final = 30
"""Characters that a cut may move to the next space; longer words are cut."""


def snippet(terms: tuple[Term, ...], item: Item) -> str:
    """Return a snippet of the content, else of title, author or tags; the beginning of the content when nothing matches."""
    content = without_frontmatter(item.content[:_SEARCHED_CHARS])
    if terms:
        pattern = _pattern(terms)
        others = (item.title, item.author or "", ", ".join(item.metadata.tags))
        for field in chain(_matching_chunks(pattern, content), map(_without_marks, others)):
            spans = _spans(pattern, field)
            if spans:
                return _cut(field, spans)
    return _cut(_without_marks(strip_markdown(content[:_CHUNK_CHARS])), [])


def _matching_chunks(pattern: re.Pattern[str], content: str) -> Iterator[str]:
    """Yield chunks that contain the words, as running text; converting takes time, so the others are skipped."""
    at = 0
    while at < len(content):
        end = content.rfind("\n", at + _CHUNK_CHARS // 2, at + _CHUNK_CHARS) + 1 or at + _CHUNK_CHARS
        if pattern.search(fold(content[at:end])):
            yield _without_marks(strip_markdown(content[at : end + MAX_CHARS]))
        at = end


def _without_marks(text: str) -> str:
    """Return the text composed and without our own marks, which would look like matches."""
    return unicodedata.normalize("NFC", text).replace(OPEN, "[ [").replace(CLOSE, "] ]")


def _pattern(terms: tuple[Term, ...]) -> re.Pattern[str]:
    return re.compile("|".join(_term_pattern(term) for term in terms))


def _term_pattern(term: Term) -> str:
    last = len(term.words) - 1
    parts = []
    for number, word in enumerate(term.words):
        unspaced = is_unspaced(word)
        end = "" if unspaced or (term.prefix and number == last) else r"(?![^\W_])"
        gap = "" if number == last else r"[\W_]{0,20}"
        parts.append(("" if unspaced else r"(?<![^\W_])") + re.escape(word) + end + gap)
    return "".join(parts)


def _spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return the positions of the first matches in the text, which are searched in its folded form."""
    folded = fold(text)
    spans: list[tuple[int, int]] = []
    for match in pattern.finditer(folded):
        if spans and match.start() > spans[0][0] + MAX_CHARS:
            break
        spans.append(match.span())
    if not spans or len(folded) == len(text):
        return spans
    ends = list(accumulate(fold_lengths(text)))
    return [(bisect_right(ends, start), bisect_right(ends, end - 1) + 1) for start, end in spans]


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    begin = _word_begin(text, max(0, spans[0][0] - _CHARS_BEFORE)) if spans else 0
    end = _word_end(text, min(len(text), begin + MAX_CHARS), spans[0][1] if spans else 0)
    parts: list[str] = []
    at = begin
    for start, stop in spans:
        if start < at or stop > end:
            continue
        parts += (text[at:start], OPEN, text[start:stop], CLOSE)
        at = stop
    parts.append(text[at:end])
    return ("…" if begin else "") + "".join(parts).strip() + ("…" if end < len(text) else "")


def _word_begin(text: str, at: int) -> int:
    space = text.find(" ", at, at + _MAX_WORD_SHIFT) if at else -1
    return space + 1 if space >= 0 else at


def _word_end(text: str, at: int, minimum: int) -> int:
    if at >= len(text):
        return len(text)
    space = text.rfind(" ", max(minimum, at - _MAX_WORD_SHIFT), at)
    return space if space > 0 else max(at, minimum)
