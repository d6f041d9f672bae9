"""The text around the words that a search found."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, chain
from typing import Final

from pagekeep.model import Item, Term
from pagekeep.store.search.indexed_text import without_frontmatter
from pagekeep.store.search.search_words import fold, fold_lengths, is_unspaced
from pagekeep.text import strip_markdown

OPEN, CLOSE = "[[", "]]"
LENGTH: Final = 200
"""Characters, about."""
_READ: Final = 200_000
"""Characters of the content in which words are looked for: beyond, the beginning is shown."""
_PASSAGE: Final = 1_200
"""Characters of content that are made running text at a time."""
_BEFORE: Final = 60
"""Characters shown before the first word found."""


def snippet(terms: tuple[Term, ...], item: Item) -> str:
    """From the content; else from title, author or tags; the content's beginning when nothing is to be marked."""
    content = without_frontmatter(item.content[:_READ])
    if terms:
        pattern = _pattern(terms)
        others = (item.title, item.author or "", ", ".join(item.metadata.tags))
        for field in chain(_passages(pattern, content), map(_unmarked, others)):
            spans = _spans(pattern, field)
            if spans:
                return _cut(field, spans)
    return _cut(_unmarked(strip_markdown(content[:_PASSAGE])), [])


def _passages(pattern: re.Pattern[str], content: str) -> Iterator[str]:
    """Passages in which the words are, as running text: making that is what takes time, so it is made of few."""
    at = 0
    while at < len(content):
        end = content.rfind("\n", at + _PASSAGE // 2, at + _PASSAGE) + 1 or at + _PASSAGE
        if pattern.search(fold(content[at:end])):
            yield _unmarked(strip_markdown(content[at : end + LENGTH]))
        at = end


def _unmarked(text: str) -> str:
    """Composed, and without our own marks: nobody's text can pass for a word found."""
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
    """Where the first words found stand in the text, though they are looked for in its folded form."""
    folded = fold(text)
    found: list[tuple[int, int]] = []
    for match in pattern.finditer(folded):
        if found and match.start() > found[0][0] + LENGTH:
            break
        found.append(match.span())
    if not found or len(folded) == len(text):
        return found
    ends = list(accumulate(fold_lengths(text)))
    return [(bisect_right(ends, start), bisect_right(ends, end - 1) + 1) for start, end in found]


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    begin = _word_begin(text, max(0, spans[0][0] - _BEFORE)) if spans else 0
    end = _word_end(text, min(len(text), begin + LENGTH), spans[0][1] if spans else 0)
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
    space = text.find(" ", at, at + 30) if at else -1
    return space + 1 if space >= 0 else at


def _word_end(text: str, at: int, least: int) -> int:
    if at >= len(text):
        return len(text)
    space = text.rfind(" ", max(least, at - 30), at)
    return space if space > 0 else max(at, least)
