"""The language of search queries.

    solar panels         both words
    "solar panels"       next to each other
    pan*                 words that begin so
    -wind                without the word (also before a phrase or a filter)
    is:pinned            also is:archived, is:deleted
    domain:example.com   and the domains below it
    tag:energy
    before:2025-03       saved before; `after:` from then on; as precise as wanted
    quality:article      article, simplified, bookmark or discarded

What is no known filter is looked for as words. Without filters archived items are found too, deleted ones are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, get_args

from pagekeep.errors import InvalidQuery
from pagekeep.model import QualityLevel
from pagekeep.store.search.search_words import words
from pagekeep.store.storable import clean_text

LONGEST: Final = 1_000
"""Characters of a query that are read."""
MOST_TERMS: Final = 32

_PART: Final = re.compile(r'(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))')
_DATE: Final = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2}(T[0-9:.]+Z?)?)?)?")
_STATES: Final = ("pinned", "archived", "deleted")
_LEVELS: Final = get_args(QualityLevel)


@dataclass(frozen=True, slots=True)
class Term:
    """Words to be found next to each other; mostly one."""

    words: tuple[str, ...]
    prefix: bool = False
    """The last word is only the beginning of one."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on the item itself."""

    name: str
    """is, domain, tag, before, after or quality."""
    value: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for."""

    terms: tuple[Term, ...] = ()
    excluded: tuple[Term, ...] = ()
    filters: tuple[Filter, ...] = ()


def parse(text: str) -> Query:
    """The query as written. `InvalidQuery` for a filter with a value it cannot have."""
    terms: list[Term] = []
    excluded: list[Term] = []
    filters: list[Filter] = []
    for minus, name, phrase, word in _PART.findall(clean_text(text[:LONGEST])):
        if name in _FILTERS and (phrase or word):
            filters.append(Filter(name, _value(name, phrase or word), minus == "-"))
            continue
        found = words(f"{name} {phrase or word}" if name else phrase or word)
        if found:
            (excluded if minus else terms).append(Term(tuple(found), prefix=word.endswith("*")))
    return Query(tuple(terms[:MOST_TERMS]), tuple(excluded[:MOST_TERMS]), tuple(filters[:MOST_TERMS]))


_FILTERS: Final = ("is", "domain", "tag", "before", "after", "quality")


def _value(name: str, value: str) -> str:
    if name in ("before", "after"):
        if not _DATE.fullmatch(value):
            raise InvalidQuery(f"`{name}:{value:.40}` is no date.", suggestions=(f"Write `{name}:2025-03-19`.",))
        return value
    known = {"is": _STATES, "quality": _LEVELS}.get(name)
    value = value.lower()
    if known and value not in known:
        choices = ", ".join(f"`{name}:{choice}`" for choice in known)
        raise InvalidQuery(f"There is no `{name}:{value:.40}` to search by.", suggestions=(f"Write {choices}.",))
    return value
