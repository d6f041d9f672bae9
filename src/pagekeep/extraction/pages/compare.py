"""Compare two pages: whether they are of the same article, and how much of one is in the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pagekeep.extraction.pages.addresses import PAGE_WORDS, Place
from pagekeep.model import Metadata
from pagekeep.text import normalise_tokens

SHINGLE_WORDS: Final = 4
"""Four words in a row are shared by chance in under 1 % of two articles' text, also when they are about one subject."""
MAX_OVERLAP: Final = 0.5
"""Share of a page's new text that may be in the pages before it: quotations and repeated notes, not the text itself."""
MIN_CONTAINED: Final = 0.9
"""Share of the first page that a page with all of the article must have: captions and notes may differ."""
MIN_NEW_WORDS: Final = 8
"""Fewer new words are a caption or a note, not a page of an article."""
_MIN_GROWTH: Final = 1.1
"""A page with all of the article has more than the first page, not only a longer footer."""
_MAX_WORDS: Final = 200_000
_MAX_TITLE_WORDS: Final = 100
_OF: Final = frozenset("of von de di sur av van z od".split())


def same_work(first: Metadata, url: str, other: Metadata, number: int | None) -> str | None:
    """Return why another page belongs to the same article as the first one, at this URL; `None` when nothing says so."""
    if other.canonical and _address(other.canonical) in {_address(url), _address(first.canonical or url)}:
        return "it names the first page as its address"
    title = _title_words(first.title or "", 1)
    if title and title == _title_words(other.title or "", number):
        return "it has the same title"
    return None


def why_known(text: str, kept: Iterable[str]) -> str | None:
    """Return why a text is not more of an article, given the texts that were kept; `None` when it is."""
    known = list(kept)
    blocks = {_key(block) for one in known for block in one.split("\n\n")}
    rest = "\n\n".join(block for block in text.split("\n\n") if _key(block) not in blocks)
    words = _words(rest)
    if len(words) < MIN_NEW_WORDS:
        return "it has no new text"
    share = _share(words, {shingle for one in known for shingle in _shingles(_words(one))})
    return f"{share:.0%} of its text is on the pages before" if share > MAX_OVERLAP else None


def lacks(whole: str, first: str) -> str | None:
    """Return why a text is not all of an article whose first page has the text `first`; `None` when it is."""
    words, own = _words(whole), _words(first)
    if len(words) < _MIN_GROWTH * len(own) + MIN_NEW_WORDS:
        return "it is not longer than the first page"
    share = _share(own, set(_shingles(words)))
    return None if share >= MIN_CONTAINED else f"only {share:.0%} of the first page's text is on it"


def _address(url: str) -> str | None:
    place = Place.of(url, 1)
    return place.stem if place else None


def _title_words(title: str, number: int | None) -> list[str]:
    """Return the words of a title without the number of the page: `Page 2`, `2 of 5`, `(2/5)`, or a 2 at its end."""
    words = normalise_tokens(title)[:_MAX_TITLE_WORDS]
    kept: list[str] = []
    place = 0
    while place < len(words):
        word = words[place]
        follows = words[place + 1 : place + 4]
        if word in PAGE_WORDS and follows and follows[0].isdigit():
            place += 2
            place += 2 if len(follows) > 2 and follows[1] in _OF and follows[2].isdigit() else 0
        elif word.isdigit() and len(follows) > 1 and follows[0] in _OF and follows[1].isdigit():
            place += 3
        else:
            kept.append(word)
            place += 1
    if len(kept) > 2 and kept[-2] == str(number) and kept[-1].isdigit():
        return kept[:-2]
    return kept[:-1] if len(kept) > 1 and kept[-1] == str(number) else kept


def _words(text: str) -> list[str]:
    return normalise_tokens(text[: _MAX_WORDS * 10])[:_MAX_WORDS]


def _shingles(words: list[str]) -> Iterable[tuple[str, ...]]:
    return (tuple(words[start : start + SHINGLE_WORDS]) for start in range(max(1, len(words) - SHINGLE_WORDS + 1)))


def _share(words: list[str], known: set[tuple[str, ...]]) -> float:
    own = list(_shingles(words))
    return sum(shingle in known for shingle in own) / len(own)


def _key(block: str) -> str:
    return " ".join(block.split()).lower()
