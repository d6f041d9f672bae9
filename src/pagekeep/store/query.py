"""The language of search queries, the words of texts that they find, and snippets around these."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Final, get_args

from pagekeep.errors import InvalidQuery
from pagekeep.model import Filter, FilterName, Item, ItemQuery, QualityLevel, Term
from pagekeep.store.storable import clean_text
from pagekeep.text import LINK_TARGET, fold, fold_lengths, strip_markdown

MAX_QUERY_CHARS: Final = 1_000
"""The rest of a longer query is ignored."""
MAX_TERMS: Final = 32
"""Of each kind; more would only slow down the search."""
MAX_PHRASE_WORDS: Final = 32
"""The rest of a longer phrase is ignored, as of a whole paragraph in Chinese: few texts share as many words."""
MAX_SHORT_PREFIXES: Final = 4
"""Beginnings of one or two letters: each occurs in most texts, and ten of them take as long as a hundred plain searches."""
_SHORT_CHARS: Final = 2

_PART: Final = re.compile(r'(-?)(?:((?:published-)?[a-z]+):)?(?:"([^"]*)"?|(\S+))')
_DATE: Final = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2}(T[0-9:.]+Z?)?)?)?")
_DAY: Final = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?")
_DATED: Final = ("before", "after", "changed", "published", "published-after", "published-before")
_STATES: Final = ("pinned", "unread", "reading", "read", "archived", "deleted", "fetch-again", "failed", "gone")
_LEVELS: Final = get_args(QualityLevel)
_FILTERS: Final = get_args(FilterName)
OPERATORS: Final = ", ".join(f"{name}:" for name in _FILTERS)
_SCHEMES: Final = ("http", "https", "ftp", "mailto", "doi", "urn")
"""What comes before the colon of an address."""
_LANGUAGE: Final = re.compile(r"([a-z]{2,3})(?:[-_].*)?")


def parse_query(text: str, *, limit: int = 20, after: str | None = None) -> ItemQuery:
    """Return the query that the text describes, ordered by relevance. `InvalidQuery` for a filter's invalid value."""
    terms: list[Term] = []
    excluded: list[Term] = []
    filters: list[Filter] = []
    for minus, name, phrase, word in _PART.findall(clean_text(text[:MAX_QUERY_CHARS])):
        if name in _FILTERS and (phrase or word):
            filters.append(Filter(name, _value(name, phrase or word), minus == "-"))
            continue
        _refuse_unknown(name, phrase or word)
        parts = words(f"{name} {phrase or word}" if name else phrase or word)
        if parts:
            prefix = word.endswith("*") and len(parts) <= MAX_PHRASE_WORDS
            (excluded if minus else terms).append(Term(tuple(parts[:MAX_PHRASE_WORDS]), prefix=prefix))
    terms, excluded = list(dict.fromkeys(terms)), list(dict.fromkeys(excluded))
    _refuse_short_prefixes([*terms, *excluded])
    return ItemQuery(
        tuple(terms[:MAX_TERMS]),
        tuple(excluded[:MAX_TERMS]),
        tuple(dict.fromkeys(filters))[:MAX_TERMS],
        order="relevance",
        limit=limit,
        after=after,
        text=text,
    )


def _refuse_unknown(name: str, value: str) -> None:
    """Raise `InvalidQuery` for an operator that does not exist; `std::vector`, `c:` and addresses are words."""
    if len(name) < _SHORT_CHARS or name in _SCHEMES or not value or value.startswith((":", "//")):
        return
    raise InvalidQuery(
        f"There is no search operator `{name:.40}:`.",
        suggestions=(
            f"Operators are {OPERATORS}.",
            f'To search for the words, write them in quotes: "{name:.40}:{value:.40}".',
        ),
    )


def took_too_long() -> InvalidQuery:
    """Return the error of a search that was ended."""
    return InvalidQuery(
        "The search took too long.", suggestions=("Use longer words, and fewer of them with `*` or `-`.",)
    )


def _refuse_short_prefixes(terms: list[Term]) -> None:
    if sum(term.prefix and len(term.words[-1]) <= _SHORT_CHARS for term in terms) > MAX_SHORT_PREFIXES:
        raise InvalidQuery(
            f"The search has more than {MAX_SHORT_PREFIXES} words of one or two letters with `*`.",
            suggestions=("Write more letters before the `*`.",),
        )


def _value(name: str, value: str) -> str:
    if name in _DATED:
        if not (_DAY if name == "published" else _DATE).fullmatch(value):
            raise InvalidQuery(
                f"`{name}:{value:.40}` is not a date.", suggestions=(f"Write it as `{name}:2025-03-19`.",)
            )
        return value
    if name == "lang":
        found = _LANGUAGE.fullmatch(value.lower())
        if found is None:
            raise InvalidQuery(
                f"`lang:{value:.40}` is not a language.", suggestions=("Write the code of a language: `lang:de`.",)
            )
        return found[1]
    known = {"is": _STATES, "quality": _LEVELS}.get(name)
    value = value.lower()
    if known and value not in known:
        choices = ", ".join(f"`{name}:{choice}`" for choice in known)
        raise InvalidQuery(f"Unknown filter `{name}:{value:.40}`.", suggestions=(f"Use {choices}.",))
    return value


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

FIELD_END: Final = "¶"
"""Separates the fields of the head, so that no phrase matches across them; it is never a search word."""

_MAX_FIELD_CHARS: Final = 1_000
_FRONTMATTER: Final = re.compile(r"---\n.*?\n---\n", re.DOTALL)


def without_frontmatter(content: str) -> str:
    """Return the Markdown without its frontmatter."""
    match = _FRONTMATTER.match(content)
    return content[match.end() :] if match else content


def head_words(title: str, author: str | None, site: str | None = None) -> str:
    """Return the search words of the head, joined by spaces; `site` is the name that the user gave to it."""
    fields = (title, author or "", *filter(None, [site]))
    joined = f" {FIELD_END} ".join(" ".join(words(field, _MAX_FIELD_CHARS)) for field in fields)
    return " ".join(joined.split())


def tag_words(tag: str) -> str:
    """Return the search words of a tag, or of its key, joined by spaces."""
    return " ".join(words(tag, _MAX_FIELD_CHARS))


def padded(term: Term) -> str:
    """Return the term as it is in search words that begin and end with a space."""
    return f" {' '.join(term.words)}" + ("" if term.prefix else " ")


def with_tags(head: str, tags: Sequence[str]) -> str:
    """Return the words of a head followed by those of tags, each as a separate field."""
    return " ".join([head, *(f"{FIELD_END} {tag_words(tag)}" for tag in tags)])


def body_words(content: str) -> str:
    """Return the search words of the content, joined by spaces."""
    return " ".join(words(LINK_TARGET.sub(" ", without_frontmatter(content))))


OPEN, CLOSE = "[[", "]]"
MAX_SNIPPET_CHARS: Final = 200
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
            yield _without_marks(strip_markdown(content[at : end + MAX_SNIPPET_CHARS]))
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
        if spans and match.start() > spans[0][0] + MAX_SNIPPET_CHARS:
            break
        spans.append(match.span())
    if not spans or len(folded) == len(text):
        return spans
    ends = list(accumulate(fold_lengths(text)))
    return [(bisect_right(ends, start), bisect_right(ends, end - 1) + 1) for start, end in spans]


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    begin = _word_begin(text, max(0, spans[0][0] - _CHARS_BEFORE)) if spans else 0
    end = _word_end(text, min(len(text), begin + MAX_SNIPPET_CHARS), spans[0][1] if spans else 0)
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
