"""What is cut within the content: blocks that only lead elsewhere, and text that the page shows twice."""

from __future__ import annotations

from typing import Final

from pagekeep import dom
from pagekeep.extract.boilerplate import Dropped
from pagekeep.extract.prose import PHRASING
from pagekeep.extract.survey import TEXT, Survey

_BLOCKS: Final = frozenset("ul ol div section table dl p aside h2 h3 h4 h5 h6 figure".split())
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


def link_lists(survey: Survey, root: int, dropped: Dropped, at_least: int = _MIN_LINKS) -> Dropped:
    """Blocks in the content whose text nearly all stands in links; none when the content is such a list.

    Links lead to other pages, or to places in this one: that is a table of contents, which Markdown has no use for.
    """
    found: Dropped = {}
    away = _links_away(survey, root)
    tags, ends, chars, linked = survey.tag, survey.end, survey.chars, survey.linked
    index, end = root + 1, ends[root]
    while index < end:
        if index in dropped:
            index = ends[index]
        elif tags[index] in _BLOCKS and linked[index] > _LINK_LIST * chars[index]:
            leading_away = away[ends[index] - root] - away[index - root]
            if leading_away >= at_least:
                found[index] = "link list"
            elif leading_away <= -_MIN_LINKS and _names_places(survey, index):
                found[index] = "table of contents"
            index = ends[index] if index in found else index + 1
        else:
            index += 1
    held = sum(chars[index] for index in found)
    return found if held < _MAX_SHARE * chars[root] else {}


def _links_away(survey: Survey, root: int) -> list[int]:
    """How many links to other pages stand before each node: a table of contents leads nowhere else, and counts against."""
    counts = [0]
    for index in range(root, survey.end[root]):
        step = 0
        if survey.tag[index] == "a":
            node = survey.nodes[index]
            target = node.attr("href") if isinstance(node, dom.Element) else None
            step = 1 if target and not target.startswith("#") else -1
        counts.append(counts[-1] + step)
    return counts


def _names_places(survey: Survey, block: int) -> bool:
    """Whether most links of a block lead to a named place in the page; a bare `#` is a button."""
    inside = survey.nodes[block : survey.end[block]]
    targets = [node.attr("href") or "" for node in inside if isinstance(node, dom.Element) and node.tag == "a"]
    return 2 * sum(len(target) > 1 and target[0] == "#" for target in targets) > len(targets)


def copies(survey: Survey, root: int, dropped: Dropped, *, any_block: bool = False) -> Dropped:
    """Later blocks whose text stood in an earlier block, letter by letter: layouts for phones, repeated teasers.

    Blocks that stand side by side are left alone: a refrain or a clause may be said twice. So are cells of a table.
    """
    found: Dropped = {}
    firsts: dict[str, int] = {}
    at_least = _REPEATED_BLOCK if any_block else _REPEATED
    tags, ends, chars, parents = survey.tag, survey.end, survey.chars, survey.parent
    index, end = root + 1, ends[root]
    while index < end:
        if index in dropped:
            index = ends[index]
            continue
        if chars[index] >= at_least and (tags[index] in _COPIED or (any_block and _holds_no_block(survey, index))):
            text = " ".join(dom.text_of(survey.nodes[index]).split())
            first = firsts.setdefault(text, index)
            if parents[first] != parents[index] and ends[first] <= index:  # else side by side, or one within the other
                found[index] = "shown twice"
                index = ends[index]
                continue
            if not any_block:
                index = ends[index]
                continue
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
