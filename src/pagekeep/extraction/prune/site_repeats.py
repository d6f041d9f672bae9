"""Find text that many pages of the same site show: menus, calls to subscribe and small print that no class names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from pagekeep import dom
from pagekeep.extraction.locate.exclusions import Exclusions, Reason, Reasons
from pagekeep.extraction.locate.prose import INLINE, has_no_block
from pagekeep.extraction.locate.survey import Survey
from pagekeep.extraction.site.shingles import SHINGLE_WORDS, make_shingles, split_words
from pagekeep.model.site import SiteKnowledge

_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_KEPT: Final = frozenset({"pre", "math", "figure", "dl"})
"""Elements whose parts are not looked at: code repeats lines on purpose."""
_CELLS: Final = frozenset({"td", "th", "caption"})
"""Elements that are kept if they have no blocks in them: the labels of a table are the same on every page."""
_MIN_KNOWN_SHARE: Final = 0.8
"""Share of a block's shingles that the site repeats, from which on the block is furniture: a name or number may differ."""
_MIN_SHORT_BLOCKS: Final = 4
"""Short blocks in a row from which on they are furniture by themselves, such as a menu; a single one may be a label."""
_MAX_REMOVED_SHARE: Final = 0.7
"""Share of the words up to which furniture is removed; a page with more is like others as a whole."""
_MIN_WORDS_LEFT: Final = 20
"""Words that must be left for the same reason."""


class _Block(NamedTuple):
    """A block of the content without blocks in it."""

    place: int
    words: int
    is_heading: bool
    is_known: bool


def find(survey: Survey, root: int, excluded: Exclusions, site: SiteKnowledge) -> Reasons:
    """Find rows of blocks that the site repeats, in document order."""
    if not site.repeated:
        return {}
    blocks = list(_read_blocks(survey, root, excluded, site.repeated))
    furniture = [block for row in _split_rows(blocks) for block in _choose(row)]
    removed, words = (sum(block.words for block in some) for some in (furniture, blocks))
    if removed > _MAX_REMOVED_SHARE * words or words - removed < _MIN_WORDS_LEFT:
        return {}
    return {block.place: Reason.SAME_ON_OTHER_PAGES for block in furniture}


def _read_blocks(survey: Survey, root: int, excluded: Exclusions, repeated: frozenset[int]) -> Iterator[_Block]:
    """Yield the innermost blocks with text that are kept so far."""
    tags, ends, chars = survey.tag, survey.end, survey.chars
    index, end = root + 1, ends[root]
    while index < end:
        tag = tags[index]
        if index in excluded or not chars[index]:
            index = ends[index]
        elif tag in _KEPT:
            yield _Block(index, chars[index] // 6, is_heading=False, is_known=False)
            index = ends[index]
        elif tag not in INLINE and has_no_block(survey, index):
            words = split_words(dom.text_of(survey.nodes[index]))
            shingles = make_shingles(words)
            known = sum(map(repeated.__contains__, shingles))
            is_known = tag not in _CELLS and bool(shingles) and known >= _MIN_KNOWN_SHARE * len(shingles)
            yield _Block(index, len(words), tag in _HEADINGS, is_known)
            index = ends[index]
        else:
            index += 1


def _split_rows(blocks: list[_Block]) -> Iterator[list[_Block]]:
    """Yield the rows of known blocks that follow each other; a heading at the end belongs to what comes after it."""
    row: list[_Block] = []
    for block in blocks:
        if block.is_known:
            row.append(block)
        elif row:
            while row and row[-1].is_heading:
                row.pop()
            yield row
            row = []
    yield row


def _choose(row: list[_Block]) -> list[_Block]:
    """Return the blocks of a row that are furniture: all of them, unless they are only a few labels."""
    if any(block.words >= SHINGLE_WORDS and not block.is_heading for block in row):
        return row
    return row if len(row) >= _MIN_SHORT_BLOCKS else []
