"""Lists of teasers beside an article: items with a linked title and some text, which lead to other articles.

A stream of them below an article may hold more sentences than the article does, so they have no say in where it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagekeep.extraction.locate.boilerplate import Dropped
from pagekeep.extraction.locate.survey import Survey

_AN_ARTICLE: Final = 1_000
"""Characters of sentences beside the teasers; with fewer, the teasers may be the content."""
_MIN_TEASERS: Final = 4
_TITLE: Final = 20
"""Characters of the link that a teaser has for its title."""
_MOST_LINKED: Final = 0.7
"""Share of text in links from which on an item is a mere link."""
_LONGEST: Final = 900
_HEADINGS: Final = frozenset({"h2", "h3", "h4", "h5"})


def silence(found: Survey, own: list[int], at_least: int) -> list[int]:
    """The characters each block has a say with: its own, but none within teasers, as long as an article is left."""
    voting = list(own)
    for index in _lists(found):
        end = found.end[index]
        voting[index:end] = [0] * (end - index)
    left = sum(held for held in voting if held >= at_least)
    return voting if left >= _AN_ARTICLE else own


def headed(found: Survey) -> Dropped:
    """Lists of teasers whose titles are headings: those are never part of an article."""
    tags, chars, linked = found.tag, found.chars, found.linked
    dropped: Dropped = {}
    for index in _lists(found):
        inside = range(index, found.end[index])
        titles = sum(tags[inner] in _HEADINGS and 0 < chars[inner] == linked[inner] for inner in inside)
        if titles >= _MIN_TEASERS:
            dropped[index] = "teasers"
    return dropped


def _lists(found: Survey) -> Iterator[int]:
    """The lists that hold enough teasers."""
    count: dict[int, int] = {}
    for index in _items(found):
        linked, chars = found.linked[index], found.chars[index]
        if _TITLE <= linked < _MOST_LINKED * chars and chars < _LONGEST:
            parent = found.parent[index]
            count[parent] = count.get(parent, 0) + 1
    return (index for index, teasers in count.items() if teasers >= _MIN_TEASERS)


def _items(found: Survey) -> Iterator[int]:
    """The page's list items."""
    index = -1
    for _ in range(found.tag.count("li")):
        index = found.tag.index("li", index + 1)
        yield index
