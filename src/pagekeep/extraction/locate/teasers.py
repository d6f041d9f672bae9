"""Lists of teasers beside an article: items with a linked title and some text, which lead to other articles.

A stream of them below an article may have more sentences than the article does, so they have no vote on where it is.
"""

from __future__ import annotations

from typing import Final

from pagekeep.extraction.locate.exclusions import Reason, Reasons
from pagekeep.extraction.locate.survey import Survey

# Chosen on the articles with such a list: 6 of our 790 labelled pages (F1 of articles +0.0007) and 4 of Mozilla's.
_MIN_ARTICLE_CHARS: Final = 1_000
"""Characters of sentences beside the teasers; with fewer, the teasers may be the content."""
_MIN_TEASERS: Final = 4
"""Teasers that make a list of them."""
_MIN_TITLE_CHARS: Final = 20
"""Characters of the link that is a teaser's title."""
_MAX_LINK_SHARE: Final = 0.7
"""Share of text in links from which on an item is only a link."""
_MAX_TEASER_CHARS: Final = 900
"""Characters of the longest teaser; a longer item is a text with links."""
_HEADINGS: Final = frozenset({"h2", "h3", "h4", "h5"})


def remove_votes(survey: Survey, own: list[int], min_chars: int) -> list[int]:
    """Return each block's own characters, but none within teasers; `own` itself without any or without an article."""
    lists = _find_lists(survey)
    if not lists:
        return own
    votes = list(own)
    for index in lists:
        end = survey.end[index]
        votes[index:end] = [0] * (end - index)
    left = sum(chars for chars in votes if chars >= min_chars)
    return votes if left >= _MIN_ARTICLE_CHARS else own


def find_headed_lists(survey: Survey) -> Reasons:
    """Find lists of teasers whose titles are headings: those are never part of an article."""
    tags, chars, linked = survey.tag, survey.chars, survey.linked
    reasons: Reasons = {}
    for index in _find_lists(survey):
        inside = range(index, survey.end[index])
        titles = sum(tags[inner] in _HEADINGS and 0 < chars[inner] == linked[inner] for inner in inside)
        if titles >= _MIN_TEASERS:
            reasons[index] = Reason.TEASERS
    return reasons


def _find_lists(survey: Survey) -> list[int]:
    """Find the lists with enough teasers."""
    count: dict[int, int] = {}
    for index in survey.places.get("li", ()):
        linked, chars = survey.linked[index], survey.chars[index]
        if _MIN_TITLE_CHARS <= linked < _MAX_LINK_SHARE * chars and chars < _MAX_TEASER_CHARS:
            parent = survey.parent[index]
            count[parent] = count.get(parent, 0) + 1
    return [index for index, teasers in count.items() if teasers >= _MIN_TEASERS]
