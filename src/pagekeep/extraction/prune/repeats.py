"""Find text that is shown more than once: copies, quotations, lines in every post, and text of many pages of the site."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from pagekeep import dom
from pagekeep.extraction.locate.exclusions import Exclusions, Reason, Reasons
from pagekeep.extraction.locate.survey import HEADINGS, INLINE, TEXT, Sign, Survey, has_no_block
from pagekeep.extraction.site import SHINGLE_WORDS, make_shingles, split_words
from pagekeep.model.page import SiteKnowledge

# Copies of a block. The lengths were chosen on 17 labelled pages (F1 of forums, products and collections +0.007).
_COPIED_TAGS: Final = frozenset("p li blockquote h2 h3".split())
"""Tags of texts; the boxes of an offer may have the same text for several things."""
_CELLS: Final = frozenset({"td", "th", "dt", "dd", "pre"})
_MAX_UNCOPIED_CHARS: Final = 40
"""Characters beside the copies up to which a part is nothing but copies: more may be a sentence."""
_MIN_COPIED_SHARE: Final = 0.8
"""Share of an element's text that is in copies, from which on all of it is a copy: headings and labels are shorter."""
_MIN_COPIES: Final = 2
"""Copies in such an element; what is beside a single one may be new."""
_MIN_ROW: Final = 3
"""Blocks that are repeated in the same order, from which on they are a copy even side by side; a refrain has fewer."""
_MIN_COPY_CHARS: Final = 60
"""Characters from which on a paragraph that is there twice is a copy; shorter ones may be said twice."""
_MIN_BLOCK_COPY_CHARS: Final = 25
"""The same for any block, on kinds of pages that hardly ever have the same text twice."""

# Quotations of earlier posts. Chosen on 19 forum pages (F1 of forums +0.016).
_WORD: Final = re.compile(r"\w+")
_QUOTES: Final = frozenset({"blockquote", "aside"})
_MIN_QUOTED_SHARE: Final = 0.6
"""Share of a quotation's runs of words that must be above; the rest is its author, and what was left out."""
_MIN_QUOTED_RUNS: Final = 12
"""Runs of words from which on a quotation repeats a post; a shorter one shows which point is answered."""
_MAX_RUNS: Final = 200_000
"""Runs of words that are remembered, about a hundred long posts on a page; quotations from below are kept."""

# Lines that are the same in every post. Chosen on 12 forum pages (F1 of forums +0.002).
_TABLE_TAGS: Final = frozenset({"td", "th", "tr", "pre"})  # a column may have the same word in every row
_MAX_LABEL_CHARS: Final = 100
"""Characters up to which a block that comes with every post is a button, a repeated title or a rank."""
_MIN_REFRAIN_POSTS: Final = 3
"""Posts that must have such a block."""
_MIN_REFRAIN_SHARE: Final = 0.6
"""Share of these blocks that must have the same text."""

Run = tuple[str, str, str]
"""Three words in a row."""


def find_copies(
    survey: Survey, root: int, excluded: Exclusions, *, any_block: bool = False, is_prose: bool = False
) -> Reasons:
    """Find later blocks with the words of an earlier block, and parts of the page that are nothing but such copies.

    Blocks side by side are kept, because a refrain or a clause may be repeated, but not a row of them. So are cells of a table.
    """
    min_chars, tags = (
        (_MIN_BLOCK_COPY_CHARS, None) if any_block else (_MIN_COPY_CHARS, None if is_prose else _COPIED_TAGS)
    )
    copies = _find_copied_blocks(survey, root, excluded, min_chars, tags)
    return dict.fromkeys(copies if tags else _widen(survey, root, copies), Reason.SHOWN_TWICE)


def _find_copied_blocks(
    survey: Survey, root: int, excluded: Exclusions, min_chars: int, tags: frozenset[str] | None
) -> dict[int, int]:
    """Find the blocks with one of these tags, or with any, that are copies, in document order, each with its original."""
    copies: dict[int, int] = {}
    originals: dict[str, int] = {}
    following: dict[int, int] = {}
    """The block after each block."""
    ends, chars, parents = survey.end, survey.chars, survey.parent
    row: list[tuple[int, int]] = []
    """Blocks side by side with their originals that repeat these in the same order, each with its original."""
    last = last_original = -1
    index, end = root + 1, ends[root]
    while index < end:
        if index in excluded:
            index = ends[index]
        elif chars[index] >= min_chars and (
            _has_no_block(survey, index) if tags is None else survey.tag[index] in tags
        ):
            text = " ".join(dom.text_of(survey.nodes[index]).split())
            original = originals.setdefault(text, index)
            following[last] = index
            if parents[original] != parents[index]:
                copies[index] = original
            elif original != index:
                row = [*row, (index, original)] if row and following[last_original] == original else [(index, original)]
                if len(row) >= _MIN_ROW:
                    copies |= dict(row)
            else:
                row = []
            last, last_original = index, original
            index = ends[index]
        else:
            index = index + 1 if chars[index] >= min_chars else ends[index]
    return dict(sorted(copies.items()))


def _widen(survey: Survey, root: int, copies: dict[int, int]) -> list[int]:
    """Return the largest elements that have hardly any text beside copies, and do not contain the original of one."""
    chars, parents = survey.chars, survey.parent
    copied: dict[int, int] = {}
    """Characters of copies in each element around one."""
    count: dict[int, int] = {}
    """How many these are."""
    last: dict[int, int] = {}
    """The last original of them."""
    for index, original in copies.items():
        above = index
        while above != root:
            copied[above] = copied.get(above, 0) + chars[index]
            count[above] = count.get(above, 0) + 1
            last[above] = max(last.get(above, 0), original)
            above = parents[above]
    widest: list[int] = []
    for copy in copies:
        if widest and copy < survey.end[widest[-1]]:
            continue
        widest.append(copy)
        above = parents[copy]
        while (
            above != root
            and copied[above] >= _MIN_COPIED_SHARE * chars[above]
            and chars[above] - copied[above] < _MAX_UNCOPIED_CHARS
            and last[above] < above
        ):
            if count[above] >= _MIN_COPIES:
                widest[-1] = above
            above = parents[above]
    return widest


def _has_no_block(survey: Survey, index: int) -> bool:
    """Return whether a block has only text and inline elements in it."""
    tags, inline = survey.tag, INLINE
    if tags[index] in inline or tags[index] in _CELLS:
        return False
    inner, end = index + 1, survey.end[index]
    while inner < end and tags[inner] in inline:
        inner += 1
    return inner == end


def find_quotations(survey: Survey, root: int, excluded: Exclusions) -> Reasons:
    """Find long quotations whose words are above, in document order. A quotation of another page is kept."""
    reasons: Reasons = {}
    tags, ends, nodes = survey.tag, survey.end, survey.nodes
    seen: set[Run] = set()
    index, end = root + 1, _find_last_quote(survey, root) + 1
    while index < end and len(seen) < _MAX_RUNS:
        if index in excluded:
            index = ends[index]
        elif tags[index] in _QUOTES and _is_quotation(survey, index):
            runs = _split_runs(dom.text_of(nodes[index]))
            if len(runs) >= _MIN_QUOTED_RUNS and sum(map(seen.__contains__, runs)) >= _MIN_QUOTED_SHARE * len(runs):
                reasons[index] = Reason.QUOTED_FROM_ABOVE
            seen.update(runs)
            index = ends[index]
        else:
            if tags[index] == TEXT:
                seen.update(_split_runs(nodes[index].data))  # type: ignore[attr-defined]
            index += 1
    return reasons


def _find_last_quote(survey: Survey, root: int) -> int:
    """Find the last quotation: most threads have none, and text after it needs not be remembered."""
    index = survey.end[root] - 1
    while index > root and not (survey.tag[index] in _QUOTES and _is_quotation(survey, index)):
        index -= 1
    return index


def _is_quotation(survey: Survey, index: int) -> bool:
    """Return whether an element quotes; a message of a thread, written as a quote, does not."""
    flags = survey.flags[index]
    return bool(flags & int(Sign.QUOTE)) or (survey.tag[index] == "blockquote" and not flags & int(Sign.POST))


def _split_runs(text: str) -> list[Run]:
    """Return every three words that follow each other."""
    words = _WORD.findall(text.lower())
    return list(zip(words, words[1:], words[2:], strict=False))


def find_refrains(survey: Survey, root: int, excluded: Exclusions) -> Reasons:
    """Find short blocks that have the same text in most posts."""
    reasons: Reasons = {}
    for group in _group_labels(survey, root, excluded):
        if len(group) < _MIN_REFRAIN_POSTS:
            continue
        texts = [" ".join(dom.text_of(survey.nodes[index]).split()) for index in group]
        refrain, times = Counter(texts).most_common(1)[0]
        if times >= _MIN_REFRAIN_SHARE * len(group):
            same = (index for index, text in zip(group, texts, strict=True) if text == refrain)
            reasons |= dict.fromkeys(same, Reason.SAME_IN_EVERY_POST)
    return reasons


def _group_labels(survey: Survey, root: int, excluded: Exclusions) -> Iterator[list[int]]:
    """Yield short blocks in groups with the same tag, class and class of the parent."""
    tags, ends, chars, parents, nodes = survey.tag, survey.end, survey.chars, survey.parent, survey.nodes
    groups: dict[tuple[str, str | None, str | None], list[int]] = {}
    index, end = root + 1, ends[root]
    while index < end:
        tag = tags[index]
        if index in excluded:
            index = ends[index]
        elif tag in INLINE or tag in _TABLE_TAGS or not 0 < chars[index] <= _MAX_LABEL_CHARS:
            index += 1
        else:
            key = (tag, nodes[index].attr("class"), nodes[parents[index]].attr("class"))  # type: ignore[attr-defined]
            groups.setdefault(key, []).append(index)
            index = ends[index]
    yield from groups.values()


_KEPT: Final = frozenset({"pre", "math", "figure", "dl"})
"""Elements whose parts are not looked at: code repeats lines on purpose."""
_LABEL_CELLS: Final = frozenset({"td", "th", "caption"})
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


def find_site_repeats(survey: Survey, root: int, excluded: Exclusions, site: SiteKnowledge) -> Reasons:
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
            is_known = tag not in _LABEL_CELLS and bool(shingles) and known >= _MIN_KNOWN_SHARE * len(shingles)
            yield _Block(index, len(words), tag in HEADINGS, is_known)
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
