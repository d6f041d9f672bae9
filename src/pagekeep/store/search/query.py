"""The language of search queries.

    solar panels         both words
    "solar panels"       next to each other
    pan*                 words that start with this
    -wind                without the word (also before a phrase or a filter)
    is:pinned            also is:unread, is:reading, is:read, is:archived, is:deleted, is:fetch-again (kept without content,
                         to be fetched again), is:failed (could not be saved) and is:gone (the page has gone from the web)
    domain:example.com   and its subdomains
    tag:energy
    author:ada           a name, or words of it
    lang:de              the language, by its code
    list:reading         items of a list, or those that a saved search finds; list:"to read"
    before:2025-03       saved before; `after:` from then on; year, month, day or time
    changed:2025-03      changed from then on
    published:2025-03    published in that year, month or day; `published-after:` from then on, `published-before:` before
    quality:article      article, simplified, bookmark or discarded
    feed:harbour         entries in the feed inbox, by the feed's name, folder or address; feed:all

Dates are in UTC. An unknown filter is an error; addresses (`https://...`) and everything in quotes are words. Archived items
are found, deleted ones only with `is:deleted`, and pages that could not be saved only with `is:failed` or `is:fetch-again`.
"""

from __future__ import annotations

import re
from typing import Final, get_args

from pagekeep.errors import InvalidQuery
from pagekeep.model import Filter, FilterName, ItemQuery, QualityLevel, Term
from pagekeep.store.search.search_words import words
from pagekeep.store.storable import clean_text

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
