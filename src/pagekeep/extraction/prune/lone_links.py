"""Links that stand alone in an article: a box that is nothing but a link, paragraphs of one link each in a row.

Articles put their links into sentences and lists. Over some four hundred of them, a `div` that held only a link was content on
one page and a button, a card or a recommendation on five.
"""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.locate.boilerplate import Dropped
from pagekeep.extraction.locate.prose import PHRASING
from pagekeep.extraction.locate.survey import TEXT, Survey

_ALL: Final = 0.8
"""Share of a block's text that stands in links."""
_ROW: Final = 3
"""Paragraphs of a link each, one after another; two may be a quotation and its source."""
_ALONE: Final = frozenset({"div", "p"})
_INLINE: Final = PHRASING | {TEXT}


def find(survey: Survey, root: int, dropped: Dropped) -> Dropped:
    """Boxes and rows of paragraphs that are only links."""
    found: Dropped = {}
    tags, ends, chars, linked = survey.tag, survey.end, survey.chars, survey.linked
    row: list[int] = []
    index, end = root + 1, ends[root]
    while index < end:
        following = index + 1
        if index in dropped:
            following = ends[index]
        elif tags[index] in _ALONE and chars[index] and linked[index] > _ALL * chars[index]:
            if tags[index] == "p":
                if row and ends[row[-1]] != index:
                    row = []
                row.append(index)
                if len(row) >= _ROW:
                    found |= dict.fromkeys(row[-_ROW:], "link list")
            elif all(tag in _INLINE for tag in tags[following : ends[index]]):
                found[index] = "link in a box"
        index = following
    return found
