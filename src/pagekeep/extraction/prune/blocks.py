"""What is cut within the content: blocks that only lead elsewhere, and text that the page shows twice."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Final

from pagekeep import dom
from pagekeep.extraction.locate.boilerplate import Dropped
from pagekeep.extraction.locate.prose import PHRASING
from pagekeep.extraction.locate.survey import TEXT, Survey

_BLOCKS: Final = frozenset("ul ol div section table dl p aside h2 h3 h4 h5 h6 figure".split())
_SENTENCE: Final = 40
_ADDRESS: Final = 200
"""Characters of an address in which its host stands."""
_LISTS: Final = frozenset({"ul", "ol"})
_LINK_LIST: Final = 0.7
_MIN_LINKS: Final = 3
_MAX_SHARE: Final = 0.5
_COPIED: Final = frozenset("p li blockquote h2 h3".split())
_INLINE: Final = PHRASING | {TEXT}
_CELLS: Final = frozenset({"td", "th", "dt", "dd", "pre"})
_REPEATED: Final = 60
"""Characters from which on a paragraph that stands twice is taken for a copy."""
_REPEATED_BLOCK: Final = 25
"""The same for any block, where only few could be said twice."""


def link_lists(survey: Survey, root: int, dropped: Dropped, at_least: int = _MIN_LINKS, host: str = "") -> Dropped:
    """Blocks in the content whose text nearly all stands in links; none when the content is such a list.

    Links lead to other pages, or to places in this one: that is a table of contents, which Markdown has no use for. A list
    whose links lead to other hosts than the page's own names sources, and stays.
    """
    found: Dropped = {}
    marks = _marks(survey, root, host)
    tags, ends, chars, linked = survey.tag, survey.end, survey.chars, survey.linked
    index, end = root + 1, ends[root]
    while index < end:
        reason = None
        if tags[index] in _BLOCKS and linked[index] > _LINK_LIST * chars[index] and index not in dropped:
            reason = marks.verdict(index, ends[index], at_least)
        if reason:
            found[index] = reason
        index = ends[index] if reason or index in dropped else index + 1
    held = sum(chars[index] for index in found)
    return found if held < _MAX_SHARE * chars[root] else {}


@dataclass(slots=True)
class _Marks:
    """Where the links and what speaks for them stand, each in document order, so that a block's are counted at once."""

    away: list[int] = field(default_factory=list)
    """Links to other pages."""
    abroad: list[int] = field(default_factory=list)
    """Those of them that lead to other hosts."""
    within: list[int] = field(default_factory=list)
    """Links to a named place in this page."""
    nowhere: list[int] = field(default_factory=list)
    """Buttons."""
    lists: list[int] = field(default_factory=list)
    sentences: list[int] = field(default_factory=list)
    """Paragraphs that say something outside links."""

    def verdict(self, first: int, end: int, at_least: int) -> str | None:
        """Why a block of links goes, or `None`."""
        away, within, nowhere, abroad = (
            _between(places, first, end) for places in (self.away, self.within, self.nowhere, self.abroad)
        )
        if away - within - nowhere >= at_least:
            sources = 2 * abroad > away + within + nowhere and _between(self.lists, first, end)
            # With a sentence in it the block is a section that has a list: go on to the list.
            return None if sources or _between(self.sentences, first + 1, end) else "link list"
        if within > nowhere and within + nowhere - away >= _MIN_LINKS:
            return "table of contents"
        return None


def _between(places: list[int], first: int, end: int) -> int:
    return bisect_left(places, end) - bisect_left(places, first)


def _marks(survey: Survey, root: int, host: str) -> _Marks:
    marks = _Marks()
    for index in range(root, survey.end[root]):
        tag = survey.tag[index]
        if tag == "a":
            target = survey.nodes[index].attr("href") or "#"  # type: ignore[attr-defined]
            if target[0] == "#":
                (marks.within if len(target) > 1 else marks.nowhere).append(index)
                continue
            marks.away.append(index)
            if host and target.startswith(("http:", "https:")) and host not in target[:_ADDRESS]:
                marks.abroad.append(index)
        elif tag in _LISTS:
            marks.lists.append(index)
        elif tag == "p" and survey.chars[index] - survey.linked[index] >= _SENTENCE:
            marks.sentences.append(index)
    return marks


def copies(survey: Survey, root: int, dropped: Dropped, *, any_block: bool = False) -> Dropped:
    """Later blocks whose text stood in an earlier block, letter by letter: layouts for phones, repeated teasers.

    Blocks that stand side by side are left alone: a refrain or a clause may be said twice. So are cells of a table.
    """
    found: Dropped = {}
    first_parent: dict[str, int] = {}
    at_least = _REPEATED_BLOCK if any_block else _REPEATED
    tags, ends, chars, parents = survey.tag, survey.end, survey.chars, survey.parent
    index, end = root + 1, ends[root]
    while index < end:
        if index in dropped:
            index = ends[index]
        elif chars[index] >= at_least and (_holds_no_block(survey, index) if any_block else tags[index] in _COPIED):
            text = " ".join(dom.text_of(survey.nodes[index]).split())
            if first_parent.setdefault(text, parents[index]) != parents[index]:
                found[index] = "shown twice"
            index = ends[index]
        else:
            index += 1
    return found


def _holds_no_block(survey: Survey, index: int) -> bool:
    """A block with nothing but text and what stands within a sentence."""
    tags, inline = survey.tag, _INLINE
    if tags[index] in inline or tags[index] in _CELLS:
        return False
    inner, end = index + 1, survey.end[index]
    while inner < end and tags[inner] in inline:
        inner += 1
    return inner == end
