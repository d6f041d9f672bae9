"""Find links that are not part of the text: lists of links, tables of contents, and links alone in a box or paragraph."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import field
from typing import Final

from pagekeep.extraction.locate.exclusions import Exclusions, Reason, Reasons
from pagekeep.extraction.locate.page_facts import SENTENCE_CHARS
from pagekeep.extraction.locate.prose import INLINE
from pagekeep.extraction.locate.survey import Survey
from pagekeep.values import dataclass

_BLOCKS: Final = frozenset("ul ol div section table dl p aside h2 h3 h4 h5 h6 figure".split())
_LONE_BLOCKS: Final = frozenset({"div", "p"})

# Chosen on labelled pages: 22 with tables of contents, 13 with lists of sources that must stay, 35 with links alone in a block
# (F1 of articles +0.0003, +0.0007 and +0.0010).
_MIN_LINK_SHARE: Final = 0.7
"""Share of a block's text that is in links, from which on it is a block of links."""
_MIN_LINKS: Final = 3
"""Links that make a list or a table of contents."""
_MAX_SHARE: Final = 0.5
"""Share of the content from which on its blocks of links are the content."""
_HOST_CHARS: Final = 200
"""Characters of an address within which its host is; links to share a page have the page's host in them too."""
_MIN_LONE_LINK_SHARE: Final = 0.8
"""Share of a block's text that is in links, from which on it is nothing but a link."""
_MIN_ROW: Final = 3
"""Paragraphs of one link each, one after another; two may be a quotation and its source."""


def find(
    survey: Survey, root: int, excluded: Exclusions, min_links: int | None = _MIN_LINKS, host: str = ""
) -> Reasons:
    """Find blocks in the content that have nearly all their text in links; none when the content is such a list.

    Links lead to other pages, or to places in this one: that is a table of contents, which Markdown does not need. A list of
    links to hosts other than the page's own names sources and is kept. Without `min_links`, only tables of contents are found.
    """
    reasons: Reasons = {}
    links = _find_links(survey, root, host)
    tags, ends, chars, linked = survey.tag, survey.end, survey.chars, survey.linked
    index, end = root + 1, ends[root]
    while index < end:
        reason = None
        if tags[index] in _BLOCKS and linked[index] > _MIN_LINK_SHARE * chars[index] and index not in excluded:
            if "footnotes" in (survey.nodes[index].attr("class") or "").split():  # type: ignore[attr-defined]
                index = ends[index]  # sources that the text refers to
                continue
            reason = links.judge(index, ends[index], min_links)
        if reason:
            reasons[index] = reason
        index = ends[index] if reason or not linked[index] or index in excluded else index + 1
    total = sum(chars[index] for index in reasons)
    return reasons if total < _MAX_SHARE * chars[root] else {}


@dataclass(slots=True)
class _Links:
    """Indices of the links, lists and sentences, each in document order, so that those of a block are counted by bisection."""

    away: list[int] = field(default_factory=list)
    """Links to other pages."""
    other_hosts: list[int] = field(default_factory=list)
    """Those of them that lead to other hosts."""
    within: list[int] = field(default_factory=list)
    """Links to a named place in this page."""
    nowhere: list[int] = field(default_factory=list)
    """Links without a target: buttons."""
    lists: list[int] = field(default_factory=list)
    code: list[int] = field(default_factory=list)
    """Code blocks, whose words may link to where they are explained."""
    sentences: list[int] = field(default_factory=list)
    """Paragraphs with a sentence outside links."""

    def judge(self, first: int, end: int, min_links: int | None) -> Reason | None:
        """Return why a block of links is removed, or `None`."""
        away, within, nowhere, other_hosts = (
            _count_between(places, first, end) for places in (self.away, self.within, self.nowhere, self.other_hosts)
        )
        if min_links is not None and away - within - nowhere >= min_links:
            is_mostly_other_hosts = other_hosts > (away + within + nowhere) / 2
            names_sources = is_mostly_other_hosts and _count_between(self.lists, first, end)
            # A block with a sentence is a section that has a list: only the list is removed.
            has_sentence = _count_between(self.sentences, first + 1, end)
            return None if names_sources or has_sentence else Reason.LINK_LIST
        if within > nowhere and within + nowhere - away >= _MIN_LINKS:
            is_text = _count_between(self.code, first, end) or _count_between(self.sentences, first + 1, end)
            return None if is_text else Reason.TABLE_OF_CONTENTS
        return None


def _count_between(places: list[int], first: int, end: int) -> int:
    return bisect_left(places, end) - bisect_left(places, first)


def _find_links(survey: Survey, root: int, host: str) -> _Links:
    end, chars, linked, nodes = survey.end[root], survey.chars, survey.linked, survey.nodes
    links = _Links(
        lists=sorted(_take_between(survey, "ul", root, end) + _take_between(survey, "ol", root, end)),
        code=_take_between(survey, "pre", root, end),
    )
    for index in _take_between(survey, "a", root, end):
        target = nodes[index].attr("href") or "#"  # type: ignore[attr-defined]
        if target[0] == "#":
            (links.within if len(target) > 1 else links.nowhere).append(index)
            continue
        links.away.append(index)
        if host and target.startswith(("http:", "https:")) and host not in target[:_HOST_CHARS]:
            links.other_hosts.append(index)
    paragraphs = _take_between(survey, "p", root, end)
    links.sentences += [index for index in paragraphs if chars[index] - linked[index] >= SENTENCE_CHARS]
    return links


def _take_between(survey: Survey, tag: str, first: int, end: int) -> list[int]:
    """Return the indices of a tag from one index up to another."""
    places = survey.places.get(tag, [])
    return places[bisect_left(places, first) : bisect_left(places, end)]


def find_lone_links(survey: Survey, root: int, excluded: Exclusions) -> Reasons:
    """Find boxes that are only a link, and rows of paragraphs that are only links.

    Articles have their links in sentences and lists. Over some four hundred articles, a `div` with only a link in it was
    content on one page and a button, a card or a recommendation on five.
    """
    reasons: Reasons = {}
    tags, ends, chars, linked = survey.tag, survey.end, survey.chars, survey.linked
    row: list[int] = []
    index, end = root + 1, ends[root]
    while index < end:
        following = index + 1
        if not linked[index] or index in excluded:
            following = ends[index]
        elif tags[index] in _LONE_BLOCKS and chars[index] and linked[index] > _MIN_LONE_LINK_SHARE * chars[index]:
            if tags[index] == "p":
                if row and ends[row[-1]] != index:
                    row = []
                row.append(index)
                if len(row) >= _MIN_ROW:
                    reasons |= dict.fromkeys(row[-_MIN_ROW:], Reason.LINK_LIST)
            elif all(tag in INLINE for tag in tags[following : ends[index]]):
                reasons[index] = Reason.LINK_IN_BOX
        index = following
    return reasons
